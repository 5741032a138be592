# SPDX-License-Identifier: Apache-2.0
"""Read exports with other people's readers and compare with verdict.json.

    readers.py VERDICT [--junit FILE] [--benchfmt FILE --benchstat CSV]
               [--hud FILE] [--llmd DIR] [--parquet DIR]

Every number must be the one of VERDICT: exactly where a format carries it, within
the digits that benchstat prints. The first difference ends with exit code 1.
Run it through readers.sh, which installs the readers and makes the exports.
"""

import argparse
import csv
import io
import json
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import junitparser
import llmd_benchmark_report
import pyarrow.parquet


class Difference(Exception):
    """An export says something else than verdict.json."""


class Place(NamedTuple):
    """A metric of a comparison."""

    baseline: str
    candidate: str
    phase: str
    gating: bool
    metric: dict[str, Any]


class Run(NamedTuple):
    """One number of one run."""

    arm: str
    block: str
    phase: str
    metric: str


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Difference(what)


def same(got: float, want: float, what: str, relative: float = 0.0) -> None:
    require(math.isclose(got, want, rel_tol=relative, abs_tol=0.0), f"{what} is {got!r}, verdict.json has {want!r}")


def places(verdict: dict[str, Any]) -> Iterator[Place]:
    for c in verdict["comparisons"]:
        for p in c.get("phases", []):
            for m in p["metrics"]:
                yield Place(c["baseline"], c["candidate"], p["name"], c["gating"], m)


def numbers(verdict: dict[str, Any]) -> dict[Run, float]:
    """All numbers of all analysed runs."""
    out: dict[Run, float] = {}
    for at in places(verdict):
        for pair in at.metric.get("pairs", []):
            for arm, side in ((at.baseline, "baseline"), (at.candidate, "candidate")):
                out[Run(arm, pair["block"], at.phase, at.metric["name"])] = pair[side]
    return out


# What a graded test case is, by verdict; INCONCLUSIVE fails unless it is allowed.
GRADES = {"PASS": None, "FAIL": "Failure", "INCONCLUSIVE": "Failure", "INVALID": "Error"}


def grade(case: junitparser.TestCase) -> str | None:
    kinds = [type(r).__name__ for r in case.result]
    require(len(kinds) <= 1, f"{case.name} has several results: {kinds}")
    return kinds[0] if kinds else None


def properties_of(case: junitparser.TestCase) -> dict[str, str]:
    return {p.get("name"): p.get("value") for p in case._elem.iterfind("properties/property")}


def check_junit(path: Path, verdict: dict[str, Any]) -> int:
    xml = junitparser.JUnitXml.fromfile(str(path))
    cases = {(c.classname, c.name): c for suite in xml for c in suite}
    require(len(cases) == xml.tests == sum(suite.tests for suite in xml), "JUnit: the number of tests is not that of the cases")
    bad = sum(grade(c) in ("Failure", "Error") for c in cases.values())
    require(bad == xml.failures + xml.errors, "JUnit: failures and errors are not those of the cases")
    require((bad > 0) == (verdict["exit_code"] != 0), f"JUnit: {bad} bad cases, exit code {verdict['exit_code']}")
    count = 0
    for at in places(verdict):
        m = at.metric
        case = cases[f"{verdict['subject']['scenario']}.{at.candidate} against {at.baseline}.{at.phase}", m["label"]]
        if m["primary"] and at.gating and "control" not in m:
            require(grade(case) == GRADES[m["verdict"]], f"JUnit: {case.name} is {grade(case)}, the verdict is {m['verdict']}")
        if not m["primary"]:
            require(grade(case) == "Skipped", f"JUnit: {case.name} is not primary and not skipped")
        said = properties_of(case)
        for key in ("baseline", "candidate", "effect_pct", "lower_pct", "upper_pct", "margin_pct"):
            require((key in said) == (key in m), f"JUnit: {key} of {case.name} is there or not")
            if key in m:
                same(float(said[key]), m[key], f"JUnit: {key} of {case.name}")
                count += 1
    return count


UNITS = {"s": "sec", "%": "percent"}


def check_benchfmt(path: Path, verdict: dict[str, Any]) -> int:
    """The lines themselves: benchstat shows medians only."""
    want = numbers(verdict)
    units = {at.metric["name"]: UNITS.get(at.metric["unit"], at.metric["unit"]) for at in places(verdict)}
    config: dict[str, str] = {}
    found = 0
    lines = path.read_text(encoding="utf-8").splitlines()
    require("unpaired, not the gate" in lines[0], "benchfmt: the first line does not say that it is not the gate")
    for line in lines:
        if line.startswith("Benchmark"):
            name, runs, value, unit = line.split(" ")
            _, phase, metric = (part.partition("=")[2] for part in name.split("/"))
            same(float(value), want[Run(config["arm"], config["block"], phase, metric)], f"benchfmt: {name}")
            require(runs == "1" and unit == units[metric], f"benchfmt: {line}")
            found += 1
        elif ": " in line and line[0].islower():
            key, _, config[key] = line.partition(": ")
    require(found == len(want), f"benchfmt: {found} lines, {len(want)} numbers")
    return found


def check_benchstat(path: Path, verdict: dict[str, Any]) -> int:
    """benchstat -format csv -col arm: one table per unit, medians by arm."""
    want: dict[tuple[str, str, str], list[float]] = {}
    for run, value in numbers(verdict).items():
        want.setdefault((run.arm, run.phase, run.metric), []).append(value)
    arms: list[str] = []
    count = 0
    for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))):
        if len(row) > 1 and row[0] == "" and not row[1].startswith(("sec", "tok/s", "req/s", "percent")):
            arms = row
        if not row or not row[0].startswith("Serve/phase="):
            continue
        _, phase, metric = (part.partition("=")[2] for part in row[0].split("/"))
        for column, arm in enumerate(arms):
            if arm and (arm, phase, metric) in want:
                median = statistics.median(want.pop((arm, phase, metric)))
                same(float(row[column]), median, f"benchstat: {row[0]} of {arm}", relative=1e-6)
                count += 1
    require(not want, f"benchstat: no row for {sorted(want)}")
    return count


HUD_NAMES = {
    "median_ttft_ms": "ttft_p50", "p95_ttft_ms": "ttft_p95", "median_tpot_ms": "tpot_p50", "p95_tpot_ms": "tpot_p95",
    "median_e2el_ms": "e2e_p50", "p95_e2el_ms": "e2e_p95", "tokens_per_second": "output_throughput",
    "requests_per_second": "request_rate",
}  # fmt: skip


def check_hud(path: Path, verdict: dict[str, Any]) -> int:
    """What the database reads: names, lists of numbers, maps of strings."""
    want = numbers(verdict)
    effects = {(p.baseline, p.candidate, p.phase, p.metric["name"]): p.metric for p in places(verdict)}
    for record in json.loads(path.read_text(encoding="utf-8")):
        info, metric = record["benchmark"]["extra_info"], record["metric"]
        require(all(isinstance(x, str) for x in info.values()), f"HUD: extra_info of {metric['name']} has other values than strings")
        require(bool(record["model"]["name"] and json.loads(info["args"])), f"HUD: {metric['name']} has no model or no args")
        values = metric["benchmark_values"]
        require(all(isinstance(x, float | int) and math.isfinite(x) for x in values), f"HUD: {metric['name']} has odd values")
        if "arm" not in info:
            name = metric["name"].removesuffix("_regression_pct")
            m = effects.pop((info["baseline"], info["candidate"], info["phase"], name))
            require(values == [p["effect_pct"] for p in m["pairs"]], f"HUD: {metric['name']} has other effects")
            same(metric["target_value"], m["margin_pct"], f"HUD: target of {metric['name']}")
            continue
        name = HUD_NAMES.get(metric["name"], metric["name"].removesuffix("_ms"))
        blocks = sorted(r.block for r in want if (r.arm, r.phase, r.metric) == (info["arm"], info["phase"], name))
        require(len(blocks) == len(values) > 0, f"HUD: {metric['name']} has {len(values)} values for {len(blocks)} blocks")
        for block, value in zip(blocks, values, strict=True):
            factor = 1000 if metric["name"].endswith("_ms") else 1
            same(value, factor * want.pop(Run(info["arm"], block, info["phase"], name)), f"HUD: {metric['name']} of block {block}")
    require(not want and not any("effect_pct" in m for m in effects.values()), "HUD: numbers are missing")
    return len(numbers(verdict))


def check_llmd(folder: Path, verdict: dict[str, Any]) -> int:
    """Every file is a report by llm-d's own models, which check units too."""
    reports = {}
    for path in sorted(folder.glob("*.json")):
        report = llmd_benchmark_report.import_benchmark_report(str(path))
        require(isinstance(report, llmd_benchmark_report.BenchmarkReportV021), f"llm-d: {path.name} is no 0.2.1")
        keywords = dict(k.split(" ", 1) for k in report.run.keywords if " " in k)
        reports[keywords["arm"], keywords["block"], keywords["phase"]] = report.results.request_performance.aggregate
    count = 0
    for run, value in numbers(verdict).items():
        a = reports[run.arm, run.block, run.phase]
        quantile = run.metric.rpartition("_")[2]
        latency = {"ttft": a.latency.time_to_first_token, "tpot": a.latency.time_per_output_token, "e2e": a.latency.request_latency}
        rates = {"output_throughput": a.throughput.output_token_rate, "request_rate": a.throughput.request_rate}
        if run.metric in rates:
            same(rates[run.metric].mean, value, f"llm-d: {run}")
        elif run.metric.removesuffix(f"_{quantile}") in latency:
            same(getattr(latency[run.metric.partition("_")[0]], quantile), value, f"llm-d: {run}")
        else:
            continue
        count += 1
    require(count > 0 or not numbers(verdict), "llm-d: nothing was compared")
    return count


RECOMPUTED = """
    select arm, block, phase,
           quantile_cont(ttft_s, 0.5), quantile_cont(ttft_s, 0.95),
           quantile_cont(tpot_s, 0.5), quantile_cont(tpot_s, 0.95)
    from read_parquet(?)
    where valid and not burn_in and not warmup and error is null
    group by all
"""


def check_parquet(folder: Path, verdict: dict[str, Any]) -> int:
    want = numbers(verdict)
    pairs = pyarrow.parquet.read_table(folder / "pairs.parquet").to_pylist()
    for p in pairs:
        for arm, side in ((p["baseline_arm"], "baseline"), (p["candidate_arm"], "candidate")):
            same(p[side], want[Run(arm, p["block"], p["phase"], p["metric"])], f"Parquet: {p['metric']} of {arm}, block {p['block']}")
    require(len(pairs) == sum(len(at.metric.get("pairs", [])) for at in places(verdict)), "Parquet: not all pairs are there")

    count = len(pairs)
    for arm, block, phase, *got in duckdb.execute(RECOMPUTED, [str(folder / "requests.parquet")]).fetchall():
        for name, value in zip(("ttft_p50", "ttft_p95", "tpot_p50", "tpot_p95"), got, strict=True):
            run = Run(arm, block, phase, name)
            if run in want:
                same(value, want[run], f"Parquet: {name} computed from the requests, {run}", relative=1e-12)
                count += 1

    query = "select arm, count(*) from read_parquet(?) where valid and not burn_in group by arm"
    rows = dict(duckdb.execute(query, [str(folder / "steps.parquet")]).fetchall())
    table = pyarrow.parquet.read_table(folder / "steps.parquet", columns=["context_length_hist", "scheduled_requests"])
    for row in table.to_pylist():
        require(sum(row["context_length_hist"]) == row["scheduled_requests"], f"Parquet: a histogram has lost requests: {row}")
    for r in verdict.get("recorders", []):
        got = rows.get(r["arm"], 0)
        require(got == r["records"] or (0 < got < r["records"] and verdict.get("thinned", 0) > 0),
                f"Parquet: {got} steps of {r['arm']}, verdict.json has {r['records']}")  # fmt: skip
    return count


CHECKS = {
    "junit": check_junit, "benchfmt": check_benchfmt, "benchstat": check_benchstat, "hud": check_hud, "llmd": check_llmd,
    "parquet": check_parquet,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="compare exports with verdict.json")
    parser.add_argument("verdict", type=Path)
    for name in CHECKS:
        parser.add_argument("--" + name, type=Path)
    options = parser.parse_args()
    verdict = json.loads(options.verdict.read_text(encoding="utf-8"))
    asked = [name for name in CHECKS if getattr(options, name)]
    if not asked:
        parser.error("name at least one export")
    for name in asked:
        try:
            count = CHECKS[name](getattr(options, name), verdict)
        except (Difference, KeyError) as e:
            print(f"{options.verdict}: {getattr(options, name)}: {e!r}", file=sys.stderr)
            return 1
        print(f"{options.verdict.parent.name}/{options.verdict.stem}: {name}: {count} numbers are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
