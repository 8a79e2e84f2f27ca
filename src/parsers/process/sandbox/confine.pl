# Confines itself by Landlock and seccomp, and becomes the command: what no tool of util-linux does, and needs no privilege.
#
#   perl -w confine.pl ARCHITECTURE [run PATH | read PATH | write PATH]... [calls] -- COMMAND [ARGUMENT]...
#
# ARCHITECTURE is the machine's, as Node names it. `run`, `read` and `write` name what may be read and executed, read, or read and written
# from now on, with all that lies below; without any of them files stay as they are. `calls` takes away sockets, new processes, and whatever
# reaches into other processes. Exits with 1 and a line that says why if the kernel refuses.
use strict;

# What the kernel calls it, and which numbers it has. (Perl's POSIX, which could tell the machine's, takes longer to load than all else here.)
my %ARCHITECTURES = (x64 => [0xC000003E, 0], arm64 => [0xC00000B7, 1]);
my $name = shift @ARGV;
my $architecture = $ARCHITECTURES{$name} or refuse("there is no list of system calls for $name");
my ($audit, $column) = @$architecture;

# Names as in the kernel; numbers on x86_64 and on aarch64, which has no fork and no vfork.
my %CALLS = (
  prctl => [157, 167], seccomp => [317, 277],
  landlock_create_ruleset => [444, 444], landlock_add_rule => [445, 445], landlock_restrict_self => [446, 446],
  socket => [41, 198], fork => [57, undef], vfork => [58, undef], clone => [56, 220], clone3 => [435, 435],
  ptrace => [101, 117], process_vm_readv => [310, 270], process_vm_writev => [311, 271], kcmp => [312, 272],
  pidfd_open => [434, 434], pidfd_getfd => [438, 438], pidfd_send_signal => [424, 424], process_madvise => [440, 440],
  kill => [62, 129], tkill => [200, 130], tgkill => [234, 131], rt_sigqueueinfo => [129, 138], rt_tgsigqueueinfo => [297, 240],
  prlimit64 => [302, 261], sched_setaffinity => [203, 122], sched_setscheduler => [144, 119],
  unshare => [272, 97], setns => [308, 268], mount => [165, 40], umount2 => [166, 39], pivot_root => [155, 41], chroot => [161, 51],
  open_tree => [428, 428], move_mount => [429, 429], fsopen => [430, 430], fsmount => [432, 432], mount_setattr => [442, 442],
  open_by_handle_at => [304, 265], bpf => [321, 280], perf_event_open => [298, 241], userfaultfd => [323, 282],
  io_uring_setup => [425, 425], add_key => [248, 217], request_key => [249, 218], keyctl => [250, 219],
  shmget => [29, 194], semget => [64, 190], msgget => [68, 186], mq_open => [240, 180], init_module => [175, 105], finit_module => [313, 273],
);
sub number { return $CALLS{$_[0]}[$column] }

my @REFUSED = qw(
  socket fork vfork ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal process_madvise tkill
  unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsmount mount_setattr open_by_handle_at bpf perf_event_open
  userfaultfd add_key request_key keyctl shmget semget msgget mq_open init_module finit_module
);
# Where the caller goes on with what came before the call.
my @UNKNOWN = qw(clone3 io_uring_setup);
# Whose first argument is a process: itself, or 0 where that means itself.
my @ON_ITSELF = qw(kill tgkill rt_sigqueueinfo rt_tgsigqueueinfo);
my @ON_ITSELF_OR_ZERO = qw(prlimit64 sched_setaffinity sched_setscheduler);

my (@run, @read, @write, $calls);
while (@ARGV) {
  my $word = shift @ARGV;
  last if $word eq "--";
  if ($word eq "run") { push @run, shift @ARGV }
  elsif ($word eq "read") { push @read, shift @ARGV }
  elsif ($word eq "write") { push @write, shift @ARGV }
  elsif ($word eq "calls") { $calls = 1 }
  else { refuse("what is $word") }
}

# No program that is run from here on gains a right by a bit on its file; both mechanisms ask for it.
checked("no_new_privs", syscall(number("prctl"), 38, 1, 0, 0, 0));
confine_files() if @run or @read or @write;
confine_calls() if $calls;
exec { $ARGV[0] } @ARGV or refuse("$ARGV[0] cannot be run: $!");

sub confine_files {
  my ($EXECUTE, $WRITE_FILE, $READ_FILE, $READ_DIR) = (1, 2, 4, 8);
  my $version = checked("Landlock", syscall(number("landlock_create_ruleset"), 0, 0, 1));
  # All rights over files that this kernel knows, from version 4 on TCP, from version 6 on signals and abstract sockets of others.
  my $all = (1 << ($version >= 5 ? 16 : $version >= 3 ? 15 : $version >= 2 ? 14 : 13)) - 1;
  my $attributes = pack("Q", $all) . ($version >= 4 ? pack("Q", 3) : "") . ($version >= 6 ? pack("Q", 3) : "");
  my $rules = checked("Landlock", syscall(number("landlock_create_ruleset"), $attributes, length($attributes), 0));
  my $on_files = $all & ~(0x1FF0 | (1 << 13) | $READ_DIR);
  my $allow = sub {
    my ($path, $rights) = @_;
    # O_PATH; what is not there needs no right.
    sysopen(my $handle, $path, 0x200000) or return;
    $rights &= $on_files unless -d $path;
    my $rule = pack("Ql", $rights & $all, fileno($handle));
    checked("Landlock for $path", syscall(number("landlock_add_rule"), $rules, 1, $rule, 0));
  };
  $allow->($_, $EXECUTE | $READ_FILE | $READ_DIR) for @run;
  $allow->($_, $READ_FILE | $READ_DIR) for @read;
  # Neither devices nor sockets nor pipes are made, and nothing is moved in from elsewhere.
  $allow->($_, $all & ~($EXECUTE | (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11) | (1 << 13))) for @write;
  checked("Landlock", syscall(number("landlock_restrict_self"), $rules, 0));
}

# A filter of classic BPF over { int call; int architecture; long pointer; long arguments[6] }.
sub confine_calls {
  my ($ALLOW, $KILL, $EPERM, $ENOSYS) = (0x7FFF0000, 0x80000000, 0x00050001, 0x00050026);
  my ($LOAD, $IF_EQUAL, $IF_ABOVE, $IF_SET, $RETURN) = (0x20, 0x15, 0x25, 0x45, 0x06);
  my ($CALL, $ARCHITECTURE, $ARGUMENT) = (0, 4, 16);
  my @filter = ([$LOAD, 0, 0, $ARCHITECTURE], [$IF_EQUAL, 1, 0, $audit], [$RETURN, 0, 0, $KILL], [$LOAD, 0, 0, $CALL]);
  # The second set of numbers that x86_64 has.
  push @filter, [$IF_ABOVE, 0, 1, 0x3FFFFFFF], [$RETURN, 0, 0, $EPERM];
  my $when = sub {
    my ($call, @then) = @_;
    push @filter, [$IF_EQUAL, 0, scalar(@then), number($call)], @then if defined number($call);
  };
  $when->($_, [$RETURN, 0, 0, $EPERM]) for @REFUSED;
  $when->($_, [$RETURN, 0, 0, $ENOSYS]) for @UNKNOWN;
  $when->($_, [$LOAD, 0, 0, $ARGUMENT], [$IF_EQUAL, 0, 1, $$], [$RETURN, 0, 0, $ALLOW], [$RETURN, 0, 0, $EPERM]) for @ON_ITSELF;
  $when->($_, [$LOAD, 0, 0, $ARGUMENT], [$IF_EQUAL, 1, 0, 0], [$IF_EQUAL, 0, 1, $$], [$RETURN, 0, 0, $ALLOW], [$RETURN, 0, 0, $EPERM]) for @ON_ITSELF_OR_ZERO;
  # CLONE_THREAD: a thread of its own, and no process.
  $when->("clone", [$LOAD, 0, 0, $ARGUMENT], [$IF_SET, 0, 1, 0x10000], [$RETURN, 0, 0, $ALLOW], [$RETURN, 0, 0, $EPERM]);
  push @filter, [$RETURN, 0, 0, $ALLOW];
  my $program = join("", map { my ($code, $true, $false, $value) = @$_; pack("SCCL", $code, $true, $false, $value) } @filter);
  my $pointer = pack("Sx6P", scalar(@filter), $program);
  checked("seccomp", syscall(number("seccomp"), 1, 0, $pointer));
}

sub checked {
  my ($what, $result) = @_;
  refuse("$what: $!") if $result < 0;
  return $result;
}

sub refuse {
  print STDERR "$_[0]\n";
  exit 1;
}
