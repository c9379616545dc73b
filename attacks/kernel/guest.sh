# Process 1 of the guest after boot.sh: sets up what a Debian system has, and runs the suite in each setting. Its output is
# what `kernel.ts` prints and reads.
exec </dev/null >/dev/ttyS1 2>&1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t securityfs securityfs /sys/kernel/security
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
ln -s /proc/self/fd /dev/fd
TESTER=1234
# Not at /tmp and /home, where the repository may be.
mkdir /scratch
mount -t tmpfs -o mode=755 tmpfs /scratch
mkdir -m 700 /scratch/root /scratch/tester
mkdir -m 1777 /scratch/tmp
chown $TESTER:$TESTER /scratch/tester
echo "tester:x:$TESTER:$TESTER::/scratch/tester:/bin/sh" >>/etc/passwd
echo "tester:x:$TESTER:" >>/etc/group
export TMPDIR=/scratch/tmp
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
cd "$REPOSITORY" || exit 1

as_root() { HOME=/scratch/root USER=root "$@"; }
as_tester() {
  HOME=/scratch/tester USER=tester setpriv --reuid $TESTER --regid $TESTER --clear-groups --inh-caps=-all "$@"
}
suite() { "as_$1" "$NODE" attacks/escape/run.ts; }
# With control groups that the user may change. `script` starts the hub with this shell.
suite_in_groups() {
  owner=$(id -u "$1")
  echo "+memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
  chmod u+w /sys/fs/cgroup
  chown "$owner" /sys/fs/cgroup /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/cgroup.subtree_control
  SHELL=$REPOSITORY/attacks/kernel/own-group.sh suite "$1"
}
tests() { "as_$1" "$NODE" --test --test-concurrency=2 --test-reporter=spec "packages/sandbox/test/**/*.test.ts"; }

echo "== Linux $(uname -r), $(cat /sys/kernel/security/lsm), control groups: $(cat /sys/fs/cgroup/cgroup.controllers)"
for what in suite tests suite_in_groups; do
  for scope in 1 0; do
    for user in root tester; do
      name="$what as $user, ptrace_scope $scope"
      case "$name" in *"$ONLY"*) ;; *) continue ;; esac
      echo $scope >/proc/sys/kernel/yama/ptrace_scope
      echo "== $name"
      # Not a terminal, or some tests find colours where they look for numbers.
      { "$what" "$user" 2>&1; echo "== $name ended with $?"; } | cat
    done
  done
done
echo "== done"
sync
exec /bin/busybox poweroff -f
