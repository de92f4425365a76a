"""Judge a corpus from Python and look at the evidence behind one verdict.

python examples/judge_a_corpus.py CORPUS OUT
"""

import sys

import assay


def main(corpus: str, out: str) -> None:
    """Judge ``corpus`` into the run folder ``out``; name what was rejected and why."""
    run = assay.run(corpus, out=out)
    print(
        f"{run.summary['accepted']} accepted, {run.summary['rejected']} rejected of {run.summary['declared']}"
    )
    for finding in run.findings.to_pylist()[:5]:
        span = f"{finding['t0'] * 1e-9:.2f} to {finding['t1'] * 1e-9:.2f} s"
        print(finding["subject"], finding["gate"], finding["stream"], finding["channel"], span)
    if not run.summary["rejected"]:
        return
    rejected = [row["subject"] for row in run.episodes.to_pylist() if row["decision"] == "rejected"]
    for evidence in run.episode(rejected[0]).evidence("RTG001"):
        worst = evidence.value.max()
        if worst > evidence.limit:
            print(f"{rejected[0]} RTG001: {worst:.4f} {evidence.unit} beyond the body's limit at worst")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/judge_a_corpus.py CORPUS OUT")
    main(*sys.argv[1:])
