"""Which version of the package is this? Written into records and the User-Agent."""

VERSION = "0.1.0"
