#!/bin/sh
# Stands in for the parser child in tests: answers a probe by the first line of the "PDF" on stdin.
read -r line
cat >/dev/null
case "$line" in
  *encrypted*) echo '{"error":{"kind":"encrypted"}}' ;;
  *broken*) echo '{"error":{"kind":"damaged","reason":"no cross-reference table"}}' ;;
  *) echo "{\"end\":{\"title\":null,\"pages\":${line##*pages=},\"warnings\":[]}}" ;;
esac
