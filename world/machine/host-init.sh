#!/bin/bash
# First process of a host of the world (see host.ts). It creates the mounts, creates the file `up`, and then only reaps
# orphans. Its mounts are in the host's own mount namespace and disappear with it.
set -eu

hostname "$HOST_NAME"

if [ -n "$HOST_DISK" ]; then
  mkdir -p "$HOST_DISK"
  mount -t tmpfs -o "size=${HOST_DISK_MIB}m,mode=700" tmpfs "$HOST_DISK"
fi

# Without this, the shared memory of a killed program would stay on the machine.
mount -t tmpfs -o mode=1777 tmpfs /dev/shm

# A copy-on-write /etc, so that the machine's own files stay unchanged.
mkdir -p "$HOST_FOLDER/etc.upper" "$HOST_FOLDER/etc.work"
mount -t overlay -o "lowerdir=/etc,upperdir=$HOST_FOLDER/etc.upper,workdir=$HOST_FOLDER/etc.work" overlay /etc
rm -f /etc/resolv.conf
echo "nameserver $HOST_NAMESERVER" >/etc/resolv.conf
printf '127.0.0.1 localhost %s\n::1 localhost\n' "$HOST_NAME" >/etc/hosts

mount_cgroups_v1() {
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controllers in $HOST_CGROUP_TREES; do
    case $controllers in
      name=*) folder=/sys/fs/cgroup/${controllers#name=} options=none,$controllers ;;
      *) folder=/sys/fs/cgroup/$controllers options=$controllers ;;
    esac
    mkdir "$folder"
    mount -t cgroup -o "$options" cgroup "$folder"
    # Programs expect /sys/fs/cgroup/cpu even if it is mounted together with cpuacct.
    case $controllers in *,*) for c in ${controllers//,/ }; do ln -s "$folder" "/sys/fs/cgroup/$c"; done ;; esac
  done
}

# host.ts moves all processes of this host into a leaf, so the root can enable controllers for its children.
mount_cgroups_v2() {
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  sed 's/\b\([a-z]\)/+\1/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
}

# kubelet sets these sysctls for the whole machine unless they already have the value that it wants. These files have it.
show_sysctl() {
  file=/run/sysctl/${1//\//.}
  mkdir -p /run/sysctl
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}

if [ -n "$HOST_TOOLS" ]; then mount -t overlay -o "lowerdir=$HOST_TOOLS/usr:/usr" overlay /usr; fi

up=$HOST_FOLDER/files/up
if [ -n "$HOST_WORKER" ]; then
  mount -t sysfs sysfs /sys
  if [ -n "$HOST_CGROUP_TREES" ]; then mount_cgroups_v1; else mount_cgroups_v2; fi

  # Builds the new /run and /var elsewhere first, because the sources of their mounts may be below the old ones.
  run=$HOST_FOLDER/run var=$HOST_FOLDER/var
  mkdir -p "$run" "$var"/{lib,log,tmp,cache}
  ln -sfn /run "$var/run"
  mount -t tmpfs -o mode=755 tmpfs "$run"
  mkdir -p "$run/lock"
  while IFS='=' read -r name path; do
    mkdir -p "$run/snicket/$name"
    mount --bind "$path" "$run/snicket/$name"
  done <<<"${HOST_SHARED%$'\n'}"
  mount --rbind "$run" /run
  mount --bind "$var" /var
  up=/run/snicket/files/up

  show_sysctl vm/overcommit_memory 1
  show_sysctl vm/panic_on_oom 0
  show_sysctl kernel/panic 10
  show_sysctl kernel/panic_on_oops 1
  show_sysctl kernel/keys/root_maxkeys 1000000
  show_sysctl kernel/keys/root_maxbytes 25000000
  mount --make-rshared /
fi

touch "$up"
while :; do
  sleep infinity &
  wait $! || true
done
