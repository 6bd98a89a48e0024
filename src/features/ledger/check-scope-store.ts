/**
 * What a check reads.
 *
 * | kind     | reads                                                                              |
 * |----------|------------------------------------------------------------------------------------|
 * | `whole`  | the accounts' whole history                                                        |
 * | `recent` | the accounts' history after a posting                                              |
 * | `sealed` | the accounts' history since their seals; balances against sealed sums plus the rest |
 * | `part`   | one account's postings from its seal up to a number                                |
 * | `holds`  | the holds between two ids, in any state                                            |
 * | `usage`  | all roll-ups of the accounts                                                       |
 */
export type Scope =
  | { kind: "whole"; accountIds: readonly string[] | "all" }
  | { kind: "recent"; accountIds: readonly string[]; afterNumber: bigint }
  | { kind: "sealed"; accountIds: readonly string[] }
  | { kind: "part"; accountIds: readonly [string]; upToNumber: bigint }
  | { kind: "holds"; afterId: string; upToId: string }
  | { kind: "usage"; accountIds: readonly string[] };

// A transaction's id is that of its hold with another prefix.
export const holdOfPosting = "'hold_' || substr(posting.id, 5)";
const postingOfHold = "'txn_' || substr(hold.id, 6)";
export const signedAmount = "case when posting.credit = posting.bucket_id then posting.amount else -posting.amount end";
const slotOf = (moment: string): string => `date_bin('30 minutes', ${moment}, 'epoch')`;
/** The names of the sealed sums of a budget period and of a payment's reversals. */
export const spendingName = (keyId: string, startsAt: string): string =>
  `${keyId} || ' ' || extract(epoch from ${startsAt})`;
export const reversalName = "cause_kind || ' ' || cause_id";

/**
 * Joins every hold in scope with its charge and the sums of its postings. Lateral subqueries with `offset 0` force an index
 * lookup per row, whatever the planner estimates.
 */
const billsOfHolds = (charge: string, posted: string): string => `
      select hold.*, charge.id as charge_id, charge.hold_id as charge_hold_id, charge.account_id as charge_account_id,
          charge.unit as charge_unit, charge.paid as charge_paid, charge.lost as charge_lost, charge.item_quantities,
          charge.item_rates_nano, charge.rates_per, charge.minimum_nano, charge.quota_units,
          coalesce(posted.paid, 0) as posted_paid, coalesce(posted.lost, 0) as posted_lost, coalesce(posted.legs, 0) as posted_legs
        from scope_holds hold left join ${charge} left join ${posted}`;

const sumsOfLegs = `
            sum(amount) filter (where kind = 'charge') as paid, sum(amount) filter (where kind = 'loss') as lost, count(*) as legs`;
const billsById = billsOfHolds(
  `lateral (select * from charges where id = ${postingOfHold} offset 0) charge on true`,
  `lateral (select ${sumsOfLegs} from postings where id = ${postingOfHold} offset 0) posted on true`,
);
const billsOfScope = billsOfHolds(
  `span_charges charge on charge.id = ${postingOfHold}`,
  `(select id, ${sumsOfLegs} from scope_postings group by id) posted on posted.id = ${postingOfHold}`,
);

const openAndChargedHolds = `
    scope_holds as materialized (
      select * from holds where account_id = any($1) and state = 'open'
      union all
      select hold.* from (select distinct id from scope_postings where kind in ('charge', 'loss') order by id) posting
        cross join lateral (select * from holds where id = ${holdOfPosting} offset 0) hold
        where hold.state <> 'open' or hold.account_id <> all($1))`;

const wholeScope = `
    sealed_sums as (select * from ledger_sealed_sums where false),
    scope_wallets as (select * from wallets where $1::text[] is null or account_id = any($1)),
    scope_buckets as (select * from buckets where $1::text[] is null or account_id = any($1)),
    scope_postings as (select * from postings where $1::text[] is null or account_id = any($1)),
    scope_holds as (select * from holds where $1::text[] is null or account_id = any($1)),
    scope_bills as not materialized (${billsById}),
    scope_rollups as (
      select rollup.* from scope_wallets wallet cross join lateral (
        select * from usage_rollups where account_id = wallet.account_id offset 0) rollup),
    scope_charges as (
      select charge.* from scope_wallets wallet cross join lateral (
        select * from charges where account_id = wallet.account_id and created_at < wallet.rolled_until offset 0) charge)`;

/**
 * Seals and parts never split a transaction: all its legs are in scope. A charge has the same timestamp as its postings, so
 * their time span contains it. Usage is checked from the first slot with new charges, or from the start if nothing is sealed,
 * up to what has been rolled up.
 */
const sinceSeals = `
    scope_wallets as (select * from wallets where account_id = any($1)),
    scope_buckets as (select * from buckets where account_id = any($1)),
    sealed_sums as (select * from ledger_sealed_sums where account_id = any($1)),
    scope_postings as materialized (
      select posting.* from unnest($1::text[]) as asked (account_id) left join ledger_seals seal using (account_id)
        cross join lateral (
          select * from postings where postings.account_id = asked.account_id and number > coalesce(seal.number, 0)
            and ($2::bigint is null or number <= $2) offset 0) posting),
    ${openAndChargedHolds},
    scope_spans as (
      select * from (
        select account_id,
            case when seal.number is null and $2::bigint is null then '-infinity' else used.since end as since,
            case when $2::bigint is null then 'infinity' else used.until end as until
          from scope_wallets left join ledger_seals seal using (account_id) left join (
            select account_id, ${slotOf("min(created_at)")} as since, ${slotOf("max(created_at)")} + interval '30 minutes' as until
              from scope_postings where kind in ('charge', 'loss') group by account_id) used using (account_id)) spans
        where since is not null),
    span_charges as materialized (
      select charge.* from scope_spans span cross join lateral (
        select * from charges where account_id = span.account_id and created_at >= span.since and created_at < span.until
          offset 0) charge),
    scope_bills as materialized (${billsOfScope}),
    scope_rollups as (
      select rollup.* from scope_spans span cross join lateral (
        select * from usage_rollups where account_id = span.account_id and slot_at >= span.since
          and slot_at < span.until offset 0) rollup),
    scope_charges as (
      select charge.* from span_charges charge join scope_wallets wallet using (account_id)
        where charge.created_at < wallet.rolled_until)`;

/** The common table expressions that every invariant's statement reads. */
export const scopeStatements: Record<Scope["kind"], string> = {
  whole: wholeScope,
  usage: wholeScope,
  recent: `
    scope_wallets as (select * from wallets where account_id = any($1)),
    scope_buckets as (select * from buckets where account_id = any($1) and is_open),
    scope_postings as (select * from postings where account_id = any($1) and number > $2),
    ${openAndChargedHolds},
    scope_bills as materialized (${billsById})`,
  sealed: sinceSeals,
  part: sinceSeals,
  holds: `
    scope_postings as (select * from postings where false),
    scope_holds as materialized (select * from holds where id > $4 and id <= $5),
    scope_bills as materialized (${billsById})`,
};

/** The parameters of a scope's statements, `$1` to `$5`. */
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
