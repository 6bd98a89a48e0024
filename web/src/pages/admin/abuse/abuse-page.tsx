import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { useToast } from "../../../design/toast.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { BlockKind, ListedBlock, SignUp, SignUpFilter, SignUpSum } from "../fetch-watch.ts";
import { BlockDialog, blockKindNames } from "./block-dialog.tsx";

const days = 7;

/** Who signs up from where, and what is blocked. */
export function AbusePage() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const [blocking, setBlocking] = useState<{ kind: BlockKind; subject: string } | null>(null);
  const by = search.by === "domain" ? "domain" : "network";
  const kind: BlockKind = blockKindNames.find(({ value }) => value === search.kind)?.value ?? "network";
  return (
    <ConsoleFrame
      title="Abuse"
      intro="Sign-ups by network and mail domain, and what may not sign up or call."
      actions={
        <Button look="primary" onClick={() => setBlocking({ kind: "network", subject: "" })}>
          Add block
        </Button>
      }
    >
      <Section title={`Sign-ups of the last ${days} days`}>
        <search className="flex flex-wrap gap-3">
          <SelectField
            isCompact
            label="Count by"
            options={[
              { value: "network", label: "By network" },
              { value: "domain", label: "By mail domain" },
            ]}
            value={by}
            onChange={(value) => change({ by: value === "network" ? "" : value })}
          />
        </search>
        <Sums by={by} onBlock={setBlocking} />
      </Section>
      <Section title="Latest sign-ups">
        <SignUps
          filter={readFilter(search)}
          timeZone={timeZone}
          onShowAll={() => change({ network: "", domain: "" })}
        />
      </Section>
      <Section title="Blocks">
        <search className="flex flex-wrap gap-3">
          <SelectField
            isCompact
            label="Kind"
            options={blockKindNames}
            value={kind}
            onChange={(value) => change({ kind: value === "network" ? "" : value })}
          />
        </search>
        <Blocks kind={kind} timeZone={timeZone} />
      </Section>
      {blocking !== null && <BlockDialog {...blocking} onClose={() => setBlocking(null)} />}
    </ConsoleFrame>
  );
}

function readFilter({ network, domain }: { network?: string; domain?: string }): SignUpFilter {
  return {
    ...(network === undefined ? {} : { network }),
    ...(domain === undefined ? {} : { mail_domain: domain }),
  };
}

type SumsProps = { by: "network" | "domain"; onBlock(block: { kind: BlockKind; subject: string }): void };

function Sums({ by, onBlock }: SumsProps) {
  const { data, error, refetch } = useTableQuery(adminQueries.adminSignUps.sums(by, days));
  const columns: Column<SignUpSum>[] = [
    {
      name: by === "network" ? "Network" : "Mail domain",
      hasNames: true,
      cell: ({ subject }) => (
        <AdminLink to="abuse" search={{ [by]: subject, ...(by === "domain" ? { by } : {}) }} className={linkClasses}>
          {subject}
        </AdminLink>
      ),
    },
    { name: "Opened", align: "right", cell: ({ opened }) => opened },
    { name: "Refused", align: "right", cell: ({ refused }) => refused },
    {
      name: "Block",
      isNameHidden: true,
      align: "right",
      cell: ({ subject }) => (
        <Button look="quiet" aria-label={`Block ${subject}`} onClick={() => onBlock({ kind: by, subject })}>
          Block
        </Button>
      ),
    },
  ];
  return (
    <DataTable
      label="Sums of sign-ups"
      columns={columns}
      rows={data?.data}
      error={error}
      onRetry={() => void refetch()}
      keyOf={({ subject }) => subject}
      empty={<EmptyState title="No sign-ups in this time." />}
    />
  );
}

const refusals: Readonly<Record<string, string>> = {
  blocked: "Blocked",
  disposable: "Disposable address",
  "network-limit": "Limit of the network",
  "domain-limit": "Limit of the domain",
};

type SignUpsProps = { filter: SignUpFilter; timeZone: string; onShowAll(): void };

function SignUps({ filter, timeZone, onShowAll }: SignUpsProps) {
  const { rows, more, ...list } = usePageQuery(adminQueries.adminSignUps.list(filter));
  const isFiltered = Object.keys(filter).length > 0;
  const columns: Column<SignUp>[] = [
    { name: "Time", cell: ({ created_at: at }) => <span className="text-ink-soft">{formatMoment(at, timeZone)}</span> },
    { name: "Network", hasNames: true, cell: ({ network }) => network },
    { name: "Mail domain", hasNames: true, isSecondary: true, cell: ({ mail_domain: domain }) => domain },
    {
      name: "Outcome",
      hasNames: true,
      cell: ({ account_id: id, refusal }) =>
        id === null ? (
          <Badge kind="warning">{refusals[refusal ?? ""] ?? "Refused"}</Badge>
        ) : (
          <AdminLink to={`accounts/${id}`} className={linkClasses}>
            Account
          </AdminLink>
        ),
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      {isFiltered && (
        <div className="flex flex-wrap items-center gap-3 text-sm">
          <span>Only {filter.network ?? filter.mail_domain}</span>
          <Button look="quiet" onClick={onShowAll}>
            Show all
          </Button>
        </div>
      )}
      <DataTable
        label="List of sign-ups"
        columns={columns}
        rows={rows}
        {...list}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No sign-ups yet." />}
      />
      <LoadMore {...more} />
    </div>
  );
}

function Blocks({ kind, timeZone }: { kind: BlockKind; timeZone: string }) {
  const { rows, more, ...list } = usePageQuery(adminQueries.adminBlocks.list(kind));
  const refresh = useAdminRefresh();
  const showToast = useToast();
  const remove = useAction(
    ({ subject }: ListedBlock) => ask(adminApi.POST("/blocks/remove", { body: { kind, subject } })),
    () => {
      showToast("Block removed.");
      void refresh("adminBlocks");
    },
  );
  const columns: Column<ListedBlock>[] = [
    {
      name: "Subject",
      hasNames: true,
      cell: ({ subject, reason }) => (
        <div className="flex min-w-24 flex-col gap-0.5">
          <span>{subject}</span>
          <span className="text-sm text-ink-soft">{reason}</span>
        </div>
      ),
    },
    { name: "By", isSecondary: true, hasNames: true, cell: ({ created_by: by }) => by },
    {
      name: "Until",
      isSecondary: true,
      cell: ({ ends_at: at }) => (at === null ? "Until removed" : formatMoment(at, timeZone)),
    },
    {
      name: "Remove",
      isNameHidden: true,
      align: "right",
      cell: (block) => (
        <Button look="quiet" aria-label={`Remove the block of ${block.subject}`} onClick={() => remove.run(block)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <FormError message={remove.errorBeside()} />
      <DataTable
        label="List of blocks"
        columns={columns}
        rows={rows}
        {...list}
        keyOf={({ subject }) => subject}
        empty={<EmptyState title="No blocks of this kind." />}
      />
      <LoadMore {...more} />
    </div>
  );
}
