import { useState } from "react";
import { ApiError, ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CopyableText } from "../../../design/copyable-text.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { type Fact, FactList } from "../../../design/fact-list.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { Notice } from "../../../design/notice.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { Stat } from "../../../design/stat.tsx";
import { formatCount, formatMoney } from "../../../parts/format/format-money.ts";
import { formatDate, formatMoment, formatSince } from "../../../parts/format/format-time.ts";
import { Money } from "../../../parts/format/money.tsx";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { AuditTable } from "../audit/audit-table.tsx";
import type { AccountKey, AdminAccount } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { AccountActions } from "./account-actions.tsx";
import { AccountCharges } from "./account-charges.tsx";
import { AccountNotes } from "./account-notes.tsx";
import { AccountStatus } from "./account-status.tsx";
import { PersonalData } from "./personal-data.tsx";

const parents = [{ to: "/console/admin/accounts", name: "Accounts" }];

/** One customer's account: money, terms, people, keys, charges and what was done to it. */
export function AccountPage() {
  const { id = "" } = useAdminPlace().params;
  const query = useTableQuery(adminQueries.adminAccounts.one(id));
  const { data: account, error } = query;
  if (error instanceof ApiError && error.status === 404) return <NoSuchAccount />;
  return (
    <ConsoleFrame
      title={account?.email ?? "Account"}
      parents={parents}
      actions={account !== undefined && <AccountActions account={account} />}
    >
      {account === undefined && error === null && <Skeleton className="h-96" />}
      {account === undefined && error !== null && (
        <LoadFailure title="Could not load the account." error={error} onRetry={() => void query.refetch()} />
      )}
      {account !== undefined && <LoadedAccount account={account} />}
    </ConsoleFrame>
  );
}

function NoSuchAccount() {
  return (
    <ConsoleFrame title="Account not found" parents={parents}>
      <EmptyState title="There is no such account." action={<AdminLink to="accounts">See all accounts</AdminLink>}>
        The ID may be misspelled.
      </EmptyState>
    </ConsoleFrame>
  );
}

function LoadedAccount({ account }: { account: AdminAccount }) {
  const { time_zone: timeZone } = useSession().account;
  const { suspended_at: suspendedAt, frozen_reason: frozenReason } = account;
  return (
    <>
      <div className="-mt-4 flex flex-wrap items-center gap-x-4 gap-y-1">
        <AccountStatus status={account.status} />
        <CopyableText text={account.id} label="account ID" />
        <span className="text-xs text-ink-soft">created {formatDate(account.created_at, timeZone)}</span>
      </div>
      {suspendedAt !== null && (
        <Notice kind="warning" title={`Suspended since ${formatMoment(suspendedAt, timeZone)}`}>
          Every call is rejected.
        </Notice>
      )}
      {frozenReason !== null && (
        <Notice kind="warning" title="Frozen: the account cannot spend">
          {frozenReason}
        </Notice>
      )}
      <div className="grid gap-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <Balance account={account} />
          <AccountCharges account={account} />
          <Keys account={account} />
          <Section title="History" intro="What operators and the owner did.">
            <AuditTable filter={{ account_id: account.id }} />
          </Section>
        </div>
        <div className="flex min-w-0 flex-col gap-10">
          <Terms account={account} />
          <Members account={account} />
          <PersonalData account={account} />
          <AccountNotes accountId={account.id} />
        </div>
      </div>
    </>
  );
}

function Balance({ account: { balance, currency } }: { account: AdminAccount }) {
  const stats = [
    { label: "Available", amount: balance.available },
    { label: "On hold", amount: balance.on_hold },
    { label: "Cash", amount: balance.cash },
    { label: "Gifts", amount: balance.gift },
  ];
  const quotas = [
    { unit: "tokens", count: balance.quotas.text },
    { unit: "images", count: balance.quotas.image },
    { unit: "seconds of video", count: balance.quotas.video },
  ].filter(({ count }) => count > 0);
  return (
    <Section title="Balance">
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 sm:grid-cols-4">
        {stats.map(({ label, amount }) => (
          <Stat key={label} label={label} value={<Money amount={amount} currency={currency} />} />
        ))}
      </div>
      {quotas.length > 0 && (
        <p className="text-sm text-ink-soft">
          Quota left: {quotas.map(({ unit, count }) => `${formatCount(count)} ${unit}`).join(", ")}
        </p>
      )}
      {/[1-9]/.test(balance.owed) && (
        <p className="text-sm text-danger">Owed for reversed payments: {formatMoney(balance.owed, currency)}</p>
      )}
    </Section>
  );
}

function Terms({ account }: { account: AdminAccount }) {
  const { time_zone: timeZone } = useSession().account;
  const { limits, applied_limits: applied, plan_ends_at: endsAt } = account;
  const limit = (name: keyof typeof limits, label: string): Fact => ({
    name: label,
    value: (
      <>
        {formatCount(applied[name])}
        {limits[name] !== null && <span className="text-ink-soft"> own</span>}
      </>
    ),
  });
  const facts: Fact[] = [
    { name: "Plan", value: account.plan_name ?? "None" },
    ...(endsAt === null ? [] : [{ name: "Period ends", value: formatDate(endsAt, timeZone) }]),
    limit("requests_per_minute", "Requests per minute"),
    limit("tokens_per_minute", "Tokens per minute"),
    limit("concurrent_requests", "Concurrent requests"),
    limit("tasks_in_flight", "Tasks in flight"),
    { name: "Time zone", value: account.time_zone },
  ];
  return (
    <Section title="Plan and limits">
      <FactList facts={facts} />
    </Section>
  );
}

type Member = AdminAccount["members"][number];

function Members({ account: { id, members } }: { account: AdminAccount }) {
  const [resetting, setResetting] = useState<Member | null>(null);
  const refresh = useAdminRefresh();
  return (
    <Section title="People">
      {members.length === 0 ? (
        <p className="text-sm text-ink-soft">The account has no people, only keys.</p>
      ) : (
        <ul aria-label="People" className="divide-y divide-line border-y border-line">
          {members.map((member) => (
            <li key={member.user_id} className="flex flex-col gap-1.5 py-3 text-sm">
              <p className="font-medium wrap-break-word">
                <LongName>{member.name ?? member.email}</LongName>
              </p>
              {member.name !== null && (
                <p className="text-ink-soft wrap-break-word">
                  <LongName>{member.email}</LongName>
                </p>
              )}
              <p className="flex flex-wrap gap-1.5">
                {!member.is_email_verified && <Badge kind="warning">Unverified</Badge>}
                {member.has_password && <Badge>Password</Badge>}
                {member.has_totp && <Badge kind="good">Authenticator app</Badge>}
                {member.passkey_count > 0 && <Badge kind="good">Passkey</Badge>}
              </p>
              {member.has_totp && (
                <div>
                  <Button look="quiet" className="-ml-2" onClick={() => setResetting(member)}>
                    Reset two-step sign-in
                  </Button>
                </div>
              )}
              <p className="text-xs text-ink-soft">
                {member.last_seen_at === null
                  ? "Not signed in"
                  : `Last seen ${formatSince(member.last_seen_at, new Date())}`}
              </p>
            </li>
          ))}
        </ul>
      )}
      {resetting !== null && (
        <ReasonDialog
          title={`Reset two-step sign-in of ${resetting.email}?`}
          submitName="Reset"
          look="danger"
          send={({ reason }) =>
            ask(
              adminApi.POST("/accounts/{account_id}/users/{user_id}/reset_two_step", {
                params: { path: { account_id: id, user_id: resetting.user_id } },
                body: { reason },
              }),
            )
          }
          done="Two-step sign-in reset."
          onDone={() => void refresh("adminAccounts")}
          onClose={() => setResetting(null)}
        >
          <p className="text-sm text-ink-soft">
            Removes the authenticator app and backup codes, ends all sessions and mails the user. Check that the request
            comes from this person.
          </p>
        </ReasonDialog>
      )}
    </Section>
  );
}

function Keys({ account }: { account: AdminAccount }) {
  const { time_zone: timeZone } = useSession().account;
  const [revoking, setRevoking] = useState<AccountKey | null>(null);
  const refresh = useAdminRefresh();
  const { rows, more, ...keys } = usePageQuery(adminQueries.adminAccounts.keys(account.id));
  return (
    <Section title="API keys">
      <DataTable
        label="List of API keys"
        columns={listKeyColumns({ timeZone, currency: account.currency, onRevoke: setRevoking })}
        rows={rows}
        {...keys}
        keyOf={({ id }) => id}
        expectedRows={2}
        empty={<p className="text-sm text-ink-soft">The account has no keys.</p>}
      />
      <LoadMore {...more} />
      {revoking !== null && (
        <ReasonDialog
          title={`Revoke ${revoking.name}?`}
          submitName="Revoke"
          look="danger"
          send={({ reason }) =>
            ask(
              adminApi.POST("/accounts/{account_id}/keys/{key_id}/revoke", {
                params: { path: { account_id: account.id, key_id: revoking.id } },
                body: { reason },
              }),
            )
          }
          done="Key revoked."
          onDone={() => void refresh("adminAccounts")}
          onClose={() => setRevoking(null)}
        >
          <p className="text-sm text-ink-soft">Calls with this key fail from now on. This cannot be undone.</p>
        </ReasonDialog>
      )}
    </Section>
  );
}

type KeyColumnParts = { timeZone: string; currency: string; onRevoke(key: AccountKey): void };

function listKeyColumns({ timeZone, currency, onRevoke }: KeyColumnParts): Column<AccountKey>[] {
  return [
    {
      name: "Key",
      hasNames: true,
      cell: ({ name, preview, kind }) => (
        <div className="flex min-w-28 flex-col items-start gap-0.5">
          <span className="font-medium">{kind === "console" ? "Console" : name}</span>
          {preview !== null && <code className="font-mono text-xs text-ink-soft">{preview}</code>}
        </div>
      ),
    },
    {
      name: "Budget",
      isSecondary: true,
      cell: ({ budget }) =>
        budget === null ? (
          <span className="text-ink-soft">None</span>
        ) : (
          `${formatMoney(budget.amount, currency)} ${budget.period === "total" ? "in total" : `a ${budget.period}`}`
        ),
    },
    {
      name: "Last used",
      isSecondary: true,
      cell: ({ last_used_at: lastUsedAt }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {lastUsedAt === null ? "Never" : formatSince(lastUsedAt, new Date())}
        </span>
      ),
    },
    {
      name: "Status",
      cell: ({ revoked_at: revokedAt, expires_at: expiresAt }) => (
        <KeyStatus revokedAt={revokedAt} expiresAt={expiresAt} timeZone={timeZone} />
      ),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (key) =>
        key.revoked_at === null &&
        key.kind !== "console" && (
          <Button look="quiet" className="-my-2" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        ),
    },
  ];
}

type KeyStatusProps = { revokedAt: string | null; expiresAt: string | null; timeZone: string };

function KeyStatus({ revokedAt, expiresAt, timeZone }: KeyStatusProps) {
  if (revokedAt !== null) return <Badge>Revoked</Badge>;
  if (expiresAt === null) return <Badge kind="good">Active</Badge>;
  if (new Date(expiresAt) <= new Date()) return <Badge>Expired</Badge>;
  return (
    <span className="flex flex-col items-start gap-1">
      <Badge kind="good">Active</Badge>
      <span className="text-xs text-ink-soft">until {formatDate(expiresAt, timeZone)}</span>
    </span>
  );
}
