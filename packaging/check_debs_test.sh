#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# check_debs with the programs that this target was built with.

packaging/check_debs --binaries . ${TEST_UNDECLARED_OUTPUTS_DIR:+--keep "$TEST_UNDECLARED_OUTPUTS_DIR"}
status=$?
exit $((status == 77 ? 0 : status))
