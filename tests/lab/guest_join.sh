#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command in a cgroup. usage: guest_join.sh CGROUP COMMAND...
echo $$ >"$1/cgroup.procs" || exit 1
shift
exec "$@"
