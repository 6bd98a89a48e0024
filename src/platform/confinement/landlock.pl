# Executes a program that can access only the given paths, by Landlock and seccomp. JavaScript cannot make these system
# calls; Perl can, is part of Debian and Ubuntu, and needs no privileges in a container.
#
#   perl landlock.pl <number of prctl> read:<path> … run:<path> … write:<path> … -- <program> <words …>
#
# File descriptor 3 has the seccomp filter (seccomp-filter.ts). Any failure exits: nothing runs unconfined.
use strict;
use warnings;

my ($create_ruleset, $add_rule, $restrict_self) = (444, 445, 446);
my ($set_seccomp, $drop_capability, $set_no_new_privileges) = (22, 24, 38);
my $path_only = 010000000;

my %right = (
    execute  => 1 << 0,
    write    => 1 << 1,
    read     => 1 << 2,
    read_dir => 1 << 3,
    truncate => 1 << 14,
    ioctl    => 1 << 15,
);
my $of_files = $right{execute} | $right{write} | $right{read} | $right{truncate} | $right{ioctl};
my %wanted   = (
    read  => $right{read} | $right{read_dir},
    run   => $right{read} | $right{read_dir} | $right{execute},
    write => ~($right{execute} | $right{ioctl}),
);

sub ask {
    my ($what, @words) = @_;
    my $answer = syscall(shift @words, @words);
    die "landlock.pl: $what: $!\n" if $answer < 0;
    return $answer;
}

my $prctl   = 0 + shift @ARGV;
my $version = ask('the version of Landlock', $create_ruleset, 0, 0, 1);
# Later Landlock versions guard more: moving between folders, truncating, devices.
my $handled = (1 << ($version >= 5 ? 16 : $version >= 3 ? 15 : $version == 2 ? 14 : 13)) - 1;
# Later fields: TCP (also refused by the filter), then signals and sockets.
my @fields = ($handled, ($version >= 4 ? 3 : ()), ($version >= 6 ? 3 : ()));
my $ruleset_fields = pack('Q*', @fields);
my $ruleset = ask('a ruleset', $create_ruleset, $ruleset_fields, length $ruleset_fields, 0);

while (defined(my $word = shift @ARGV)) {
    last if $word eq '--';
    my ($kind, $path) = split /:/, $word, 2;
    sysopen(my $opened, $path, $path_only) or die "landlock.pl: $path: $!\n";
    my $access = $wanted{$kind} & $handled;
    $access &= $of_files unless -d $path;
    my $rule = pack('Ql', $access, fileno $opened);
    ask("a rule for $path", $add_rule, $ruleset, 1, $rule, 0);
}

my $filter = '';
open(my $source, '<&=', 3) or die "landlock.pl: no filter: $!\n";
while (sysread($source, $filter, 65_536, length $filter)) { }
close $source;
die "landlock.pl: the filter is broken\n" if length $filter == 0 || length($filter) % 8 != 0;

# Drop all capabilities of root; for other users these calls fail harmlessly.
syscall($prctl, $drop_capability, $_, 0, 0, 0) for 0 .. 63;
ask('no new privileges', $prctl, $set_no_new_privileges, 1, 0, 0, 0);
ask('the rules', $restrict_self, $ruleset, 0);
my $program = pack('Sx6P', length($filter) / 8, $filter);
ask('the filter', $prctl, $set_seccomp, 2, $program, 0, 0);

exec { $ARGV[0] } @ARGV or die "landlock.pl: $ARGV[0]: $!\n";
