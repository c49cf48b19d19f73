#!/bin/bash
# A stream on which nothing is said for three minutes between two windows: pings
# keep it, nobody ends it for too many of them, and the window that comes then
# goes over the same stream. Takes seven minutes.
# usage: idle_stream_long_test.sh AGENT SERVER
set -euo pipefail
folder=$(mktemp -d "${TEST_TMPDIR:-/tmp}/idle.XXXXXX")
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

"$2" --data_dir="$folder/data" --grpc_listen=127.0.0.1:0 \
  --http_listen=127.0.0.1:0 --port_file="$folder/ports" 2>"$folder/server.log" &
pids+=("$!")
until [[ -s $folder/ports ]]; do kill -0 "${pids[0]}"; sleep 0.1; done
grpc=$(sed -E 's/.*grpc=([0-9]+).*/\1/' "$folder/ports")
http=$(sed -E 's/.*http=([0-9]+).*/\1/' "$folder/ports")
"$1" --server="127.0.0.1:$grpc" --interval=190s 2>"$folder/agent.log" &
pids+=("$!")

metric() { curl -sf "http://127.0.0.1:$http/metrics" | sed -n "s/^$1 //p"; }
# The second window says how many streams it took since the first.
until [[ $(metric 'swaplock_windows_total{result="merged"}') = 2 ]]; do
  kill -0 "${pids[@]}"
  sleep 1
done
streams=$(metric 'swaplock_agent_delivery_events_total{event="stream"}')
cat "$folder/agent.log"
[[ $streams = 1 ]] || { echo "FAILED: $streams streams"; exit 1; }
! grep -q "stream to" "$folder/agent.log" || { echo "FAILED: it broke"; exit 1; }
echo "two windows, three minutes apart, on one stream"
