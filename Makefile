# make crawl                     crawl the bundled loopback web and show what came of it
# make crawl SEEDS="https://…"   the same on the live web (SET="NAME=VALUE …", JOBDIR=… to resume)
# make test, make test-long      everything that has to pass; the rest that takes long
# make test-browser              the pages in headless Chromium, and their pictures in the manual
# make test-cost                 what the page costs a crawl of 20,000 pages, with two of them open
# make fuzz                      feed the readers of the wire what strangers could say, for ten minutes
# make lint, make docs, make clean

PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin/python -m
SEEDS ?=
SET ?=
JOBDIR ?=
WORKERS ?= 2
# tests that leave WARC files behind
WRITING = tests/archive tests/fetch tests/hostile tests/scrapy_side tests/test_web_crawls.py tests/test_web_wire.py tests/test_web_faults.py tests/test_web_replay.py
JWARC = org.netpreserve:jwarc:0.31.1

# Parts of test-long, each of at most half an hour, which can run alone: make test-long-checkpoints
PARTS = checkpoints million operate durability frontier archive web rest
LONG_checkpoints = tests/operate/test_checkpoint_kills.py
LONG_million = tests/operate/test_million.py
LONG_durability = tests/durability tests/test_kill.py
LONG_frontier = tests/frontier
LONG_archive = tests/archive
LONG_web = $(wildcard tests/test_web*.py)
LONG_operate = tests/operate $(addprefix --ignore=,$(LONG_checkpoints) $(LONG_million))
LONG_rest = tests $(addprefix --ignore=,tests/operate $(LONG_durability) $(LONG_frontier) $(LONG_archive) $(LONG_web))

.PHONY: crawl test test-long $(addprefix test-long-,$(PARTS)) test-browser test-cost test-readers test-clients fuzz lint docs clean

crawl: $(VENV)/.crawl
	$(RUN) tests.web.demo $(SEEDS) $(foreach pair,$(SET),--set $(pair)) $(if $(JOBDIR),--jobdir $(JOBDIR))

test: lint .venv-pywb/.installed
	$(RUN) pytest -q -n $(WORKERS) --dist worksteal -m "not long"

test-long: $(addprefix test-long-,$(PARTS))
	$(MAKE) test-browser
	$(MAKE) test-cost
	bash tests/other_pythons.sh
	$(MAKE) test-readers
	$(MAKE) test-clients

test-long-checkpoints test-long-million: SAY = -rP
$(addprefix test-long-,$(PARTS)): test-long-%: $(VENV)/.test .venv-pywb/.installed
	$(RUN) pytest -q -n $(WORKERS) --dist worksteal $(SAY) -m "long and not browser" $(LONG_$*)

# Needs Debian's chromium. The pictures of the manual are made anew with PICTURES=docs/page.
PICTURES ?= .cache/pictures
test-browser: $(VENV)/.test .cache/axe/.installed
	HERITRIX_SCREENSHOTS=$(PICTURES) $(RUN) pytest -q -m browser tests/operate/page --ignore tests/operate/page/test_cost.py

# Needs Debian's chromium too.
test-cost: $(VENV)/.test
	$(RUN) pytest -q -s tests/operate/page/test_cost.py

.cache/axe/.installed:
	mkdir -p .cache/axe
	npm install --silent --no-audit --no-fund --prefix .cache/axe axe-core@4
	touch $@

# Readers that have nothing in common with ours, over the files of the tests: jwarc, cdxj-indexer, wacz.
test-readers: $(VENV)/.test .venv-readers/.installed .cache/jars .venv-pywb/.installed
	rm -rf .cache/written
	$(RUN) pytest -q -n $(WORKERS) --dist worksteal -m "not long" --basetemp .cache/written $(WRITING)
	$(RUN) tests.readers .cache/written

# Clients that others wrote for Heritrix, each with a whole life of a job: heritrix3, heritrix3-wrapper, one like hapy.
test-clients: $(VENV)/.test .venv-clients/.installed .cache/client-jars
	$(RUN) tests.clients --python .venv-clients/bin/python --jars .cache/client-jars

# Ten minutes of what strangers could say, for every reader of it; the tests replay the corpus.
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.test
	$(RUN) tests.fuzz --seconds $(FUZZ_SECONDS)

lint: $(VENV)/.test
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/.docs
	$(RUN) sphinx -W --keep-going -q -b html docs docs/_build/html

.venv-readers/.installed:
	$(PYTHON) -m venv .venv-readers
	.venv-readers/bin/python -m pip install --quiet --disable-pip-version-check wacz cdxj-indexer
	touch $@

# An empty folder where there is no Java, or no Maven to get it with: the check then says so, and does without.
.cache/jars:
	mkdir -p $@
	if command -v java > /dev/null && command -v mvn > /dev/null; then mvn -q -B dependency:copy -Dartifact=$(JWARC) -DoutputDirectory=$(CURDIR)/$@; fi

.venv-clients/.installed:
	$(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check heritrix3==0.4.1
	touch $@

.cache/client-jars:
	mkdir -p $@
	if command -v java > /dev/null && command -v mvn > /dev/null; then mvn -q -B -f tests/clients/pom.xml dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$@; fi

clean:
	rm -rf .venv .venv-pywb .venv-readers .venv-clients .cache build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras: what `make crawl` needs installs in a fraction of the time of the rest.
$(VENV)/.crawl: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: $(VENV)/.crawl
	$(RUN) pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

$(VENV)/.docs: $(VENV)/.crawl
	$(RUN) pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

# pywb pins old versions of what others need new, so the replay test finds it in an environment of its own.
.venv-pywb/.installed:
	$(PYTHON) -m venv .venv-pywb
	.venv-pywb/bin/python -m pip install --quiet --disable-pip-version-check pywb
	touch $@
