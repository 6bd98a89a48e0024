/**
 * How much is looked at: `whole`, all that ever happened to some accounts; `recent`, what happened to them after a posting;
 * `sealed`, what happened to them since they were sealed, and that balances are what was sealed and what came since;
 * `part`, the postings of one account that follow its seal up to a number; `holds`, those between two ids, whatever became
 * of them; `usage`, all roll-ups of some accounts.
 */
export type Scope =
  | { kind: "whole"; accountIds: readonly string[] | "all" }
  | { kind: "recent"; accountIds: readonly string[]; afterNumber: bigint }
  | { kind: "sealed"; accountIds: readonly string[] }
  | { kind: "part"; accountIds: readonly [string]; upToNumber: bigint }
  | { kind: "holds"; afterId: string; upToId: string }
  | { kind: "usage"; accountIds: readonly string[] };

// A transaction and the hold that it ends share the part of their ids after the prefix.
export const holdOfPosting = "'hold_' || substr(posting.id, 5)";
const postingOfHold = "'txn_' || substr(hold.id, 6)";
export const signedAmount = "case when posting.credit = posting.pocket_id then posting.amount else -posting.amount end";
const slotOf = (moment: string): string => `date_bin('15 minutes', ${moment}, 'epoch')`;
/** The sealed sum that a budget's period, or what was taken back for a payment, is kept by. */
export const spendingName = (keyId: string, startsAt: string): string =>
  `${keyId} || ' ' || extract(epoch from ${startsAt})`;
export const reversalName = "cause_kind || ' ' || cause_id";

// The joins are laid out so that rows are found by their index, whatever the planner expects of them.
/** Every hold in question with what it was charged for and what was booked for it. */
const billsOfHolds = `
      select hold.*, charge.id as charge_id, charge.hold_id as charge_hold_id, charge.account_id as charge_account_id,
          charge.unit as charge_unit, charge.paid as charge_paid, charge.lost as charge_lost, charge.item_quantities,
          charge.item_rates_nano, charge.rates_per, charge.minimum_nano, charge.quota_units,
          posted.paid as posted_paid, posted.lost as posted_lost, posted.legs as posted_legs
        from scope_holds hold
          left join lateral (select * from charges where id = ${postingOfHold} offset 0) charge on true
          cross join lateral (
            select coalesce(sum(amount) filter (where kind = 'charge'), 0) as paid,
                coalesce(sum(amount) filter (where kind = 'loss'), 0) as lost, count(*) as legs
              from postings where id = ${postingOfHold}) posted`;

const openAndChargedHolds = `
    scope_holds as materialized (
      select * from holds where account_id = any($1) and state = 'open'
      union all
      select hold.* from (select distinct id from scope_postings where kind in ('charge', 'loss')) posting
        cross join lateral (select * from holds where id = ${holdOfPosting} offset 0) hold
        where hold.state <> 'open' or hold.account_id <> all($1)),
    scope_bills as materialized (${billsOfHolds})`;

const wholeScope = `
    sealed_sums as (select * from ledger_sealed_sums where false),
    scope_wallets as (select * from wallets where $1::text[] is null or account_id = any($1)),
    scope_pockets as (select * from pockets where $1::text[] is null or account_id = any($1)),
    scope_postings as (select * from postings where $1::text[] is null or account_id = any($1)),
    scope_holds as (select * from holds where $1::text[] is null or account_id = any($1)),
    scope_bills as not materialized (${billsOfHolds}),
    scope_rollups as (select usage_rollups.* from scope_wallets join usage_rollups using (account_id)),
    scope_charges as (
      select charges.* from scope_wallets join charges using (account_id) where created_at >= rolled_up_from)`;

const sinceSeals = `
    scope_wallets as (select * from wallets where account_id = any($1)),
    scope_pockets as (select * from pockets where account_id = any($1)),
    sealed_sums as (select * from ledger_sealed_sums where account_id = any($1)),
    scope_postings as materialized (
      select posting.* from unnest($1::text[]) as asked (account_id) left join ledger_seals seal using (account_id)
        cross join lateral (
          select * from postings where postings.account_id = asked.account_id and number > coalesce(seal.number, 0)
            and ($2::bigint is null or number <= $2) offset 0) posting),
    ${openAndChargedHolds},
    scope_spans as (
      select account_id, greatest(since, rolled_up_from) as since, until from (
        select account_id, ${slotOf("min(created_at)")} as since, ${slotOf("max(created_at)")} + interval '15 minutes' as until
          from scope_postings where kind in ('charge', 'loss') group by account_id) used join scope_wallets using (account_id)),
    scope_rollups as (
      select rollup.* from scope_spans span cross join lateral (
        select * from usage_rollups where account_id = span.account_id and slot_at >= span.since and slot_at < span.until
          offset 0) rollup),
    scope_charges as (
      select charge.* from scope_spans span cross join lateral (
        select * from charges where account_id = span.account_id and created_at >= span.since and created_at < span.until
          offset 0) charge)`;

/** Every statement sees the accounts, postings and holds in question by these names. */
export const scopeStatements: Record<Scope["kind"], string> = {
  whole: wholeScope,
  usage: wholeScope,
  recent: `
    scope_wallets as (select * from wallets where account_id = any($1)),
    scope_pockets as (select * from pockets where account_id = any($1) and is_open),
    scope_postings as (select * from postings where account_id = any($1) and number > $2),
    ${openAndChargedHolds}`,
  sealed: sinceSeals,
  part: sinceSeals,
  holds: `
    scope_postings as (select * from postings where false),
    scope_holds as materialized (select * from holds where id > $4 and id <= $5),
    scope_bills as materialized (${billsOfHolds})`,
};

/** What the statements of a scope are given, by the numbers of their parameters. */
export function listScopeValues(
  scope: Scope,
  now: Date,
): readonly [string[] | null, string | null, Date, ...(string | null)[]] {
  switch (scope.kind) {
    case "recent":
      return [[...scope.accountIds], String(scope.afterNumber), now, null, null];
    case "part":
      return [[...scope.accountIds], String(scope.upToNumber), now, null, null];
    case "holds":
      return [null, null, now, scope.afterId, scope.upToId];
    case "whole":
    case "sealed":
    case "usage":
      return [scope.accountIds === "all" ? null : [...scope.accountIds], null, now, null, null];
  }
}
