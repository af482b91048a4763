"""Prints the dashboard's expressions as recording rules, so that promtool can read them. Grafana's variables are
replaced by their values."""

import json
import pathlib

import yaml

VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}


def main():
    dashboard = json.loads((pathlib.Path(__file__).parent / "dashboard.json").read_text())
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)), "two panels have one id"
    rules = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            assert "$" not in expression, f"{panel['title']}: a variable that nobody knows in {expression}"
            rules.append({"record": f"panel:{panel['id']}:{target['refId']}", "expr": expression})
    assert rules, "no panel asks for anything"
    print(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))


if __name__ == "__main__":
    main()
