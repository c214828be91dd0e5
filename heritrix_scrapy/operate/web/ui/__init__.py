"""The pages on which a person looks at one crawl and steers it: in the crawl's own process, or in an engine's."""
