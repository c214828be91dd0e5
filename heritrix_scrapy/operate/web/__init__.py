"""How is a crawl, or a folder of jobs, looked at and steered over HTTP?"""
