# SPDX-License-Identifier: Apache-2.0
#
# Boots one guest and runs one command in it. Sourced by `lab`.
#
# The guest talks through three channels, so that nothing mixes: the serial port
# carries the kernel's console, one virtio-serial port the command's output (no
# terminal, hence no CR) and another the control lines of guest/main.

trouble='Kernel panic|BUG:|Oops'

# The archive that is appended to the cached initramfs for this run.
write_job() {  # INTO RELEASE; uses the options of `lab run`
  local assignment
  mkdir -p "$1/lab/modules"
  # Later archives win over the initramfs.
  for assignment in "${opt_modules[@]}"; do
    cp "${assignment#*=}" "$1/lab/modules/${assignment%%=*}"
  done
  {
    echo "modules=${cache@Q}/kernels/$2/lib/modules/$2"
    echo "preempt=${opt_preempt@Q}"
    echo "out=${opt_out@Q}"
  } >"$1/lab/settings"
  printf '%s\n' "zram.num_devices=1" "brd.rd_nr=1" "brd.rd_size=1048576" \
    "${opt_module_args[@]}" | awk -F= '
      # A later value replaces an earlier one.
      { if (!($1 in value)) order[++n] = $1; value[$1] = $0 }
      END { for (i = 1; i <= n; i++) print value[order[i]] }' \
    >"$1/lab/module-args"
  {
    # Bash starts a job with SIGINT and SIGQUIT as the lab has them; a cd that
    # fails is the lab's failure, with the status env(1) uses for its own.
    printf 'cd %q || exit 125\n' "$PWD"
    printf 'exec env -i HOME=/root LANG=C.UTF-8 TERM=dumb PATH=%q' "$PATH"
    for assignment in "${opt_env[@]}"; do printf ' %q' "$assignment"; done
    printf ' %q' "${command[@]}"
    echo
  } >"$1/lab/job"
}

# Stamps each control line with the time, for the boot time of --verbose.
stamp_lines() {
  local line
  while IFS= read -r line; do echo "$EPOCHREALTIME $line"; done
}

control_value() {  # WORD; prints the rest of its line, fails if there is none
  sed -n "s/^[0-9.]* $1 \?//p" "$work/control" | grep . | tail -n 1
}

# On the kernel's command line, if nothing is a module. Else insmod passes them.
built_in_args() {  # RELEASE
  [[ -s $cache/kernels/$1/lib/modules/$1/modules.dep ]] ||
    sed 's/^/ /' "$work/job/lab/module-args" | tr -d '\n'
}

start_qemu() {  # RELEASE
  local qemu_args=(
    -nodefaults -no-user-config -display none -no-reboot
    -cpu max -m "$opt_memory"
    -kernel "$cache/kernels/$1/vmlinuz" -initrd "$work/initrd"
    -append "console=ttyS0 quiet panic=-1 oops=panic$(built_in_args "$1")${opt_preempt:+ preempt=$opt_preempt}${opt_append:+ $opt_append}"
    -serial "file:$console"
    -virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"
    -device virtio-rng-pci
    -device virtio-serial-pci
    -add-fd "fd=$control,set=1"
    -chardev file,id=control,path=/dev/fdset/1,append=on
    -device virtserialport,chardev=control,name=lab.control
    -add-fd "fd=$output,set=2"
    -chardev file,id=output,path=/dev/fdset/2,append=on
    -device virtserialport,chardev=output,name=lab.output
  )
  if [[ -n $opt_icount ]]; then
    qemu_args+=(-accel tcg,thread=single -icount shift=0,sleep=off -smp 1)
  else
    qemu_args+=(-accel "tcg,thread=$qemu_threads" -smp "$opt_smp")
  fi
  if [[ -n $opt_out ]]; then
    qemu_args+=(-virtfs "local,path=$opt_out,mount_tag=out,security_model=none,multidevs=remap")
  fi
  # Both die with their parent, even if the lab is killed outright.
  setpriv --pdeathsig TERM timeout --kill-after=5 "$opt_timeout" \
    setpriv --pdeathsig KILL "${qemu[@]}" "${qemu_args[@]}" \
    </dev/null >"$work/qemu.log" 2>&1 &
  qemu_pid=$!
}

stop_qemu() {
  if [[ -n ${qemu_pid:-} ]]; then
    kill "$qemu_pid" 2>/dev/null
    wait "$qemu_pid" 2>/dev/null
    qemu_pid=
  fi
  rm -rf "$work"
}

# From where it went wrong, if that can be told.
show_console() {
  local log=$work/console.log
  { cat "$work/qemu.log"; tr -d '\r' <"$console"; } >"$log"
  echo "lab: the end of the guest's console:" >&2
  if grep -qE "$trouble" "$log"; then
    sed -nE "/$trouble/,\$ p" "$log" | head -n 40
  else
    tail -n 25 "$log"
  fi | sed 's/^/  | /' >&2
}

run_guest() {  # RELEASE INITRAMFS; exits with the command's status
  local output_reader control_reader status reason started
  work=$(mktemp -d)
  console=$work/console
  trap stop_qemu EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  write_job "$work/job" "$1"
  { cat "$2"; pack "$work/job"; } >"$work/initrd"
  : >"$work/control"

  exec {output}> >(exec cat)
  output_reader=$!
  exec {control}> >(stamp_lines >"$work/control")
  control_reader=$!
  started=$EPOCHREALTIME
  start_qemu "$1"
  exec {output}>&- {control}>&-
  status=0
  wait "$qemu_pid" || status=$?
  qemu_pid=
  wait "$control_reader" "$output_reader" || true
  if [[ -n $opt_console ]]; then tr -d '\r' <"$console" >"$opt_console"; fi
  report_times "$started"

  if reason=$(control_value skip); then
    skip "$reason"
  elif reason=$(control_value exit); then
    exit "$reason"
  elif ((status == 124 || status == 137)); then
    if grep -q ' up$' "$work/control"; then
      echo "lab: timed out: the command still ran on $1 after $opt_timeout s" >&2
    else
      echo "lab: timed out: $1 was not up after $opt_timeout s" >&2
      show_console
    fi
    exit 124
  fi
  show_console
  fail "the guest ($1) did not come up or died (qemu ended with $status)"
}

report_times() {  # STARTED
  [[ -n $opt_verbose ]] || return 0
  awk -v started="$1" -v ended="$EPOCHREALTIME" '
    $2 == "up" { printf "lab: booted in %.1f s\n", $1 - started }
    END { printf "lab: whole run took %.1f s\n", ended - started }
  ' "$work/control" >&2
}
