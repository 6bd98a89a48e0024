import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CopyButton } from "../../../design/copy-button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { formatCount, formatMoney } from "../../../parts/format/format-money.ts";
import { formatDate } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { Code, CodeBatch } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { useCurrency } from "../use-currency.ts";

/** Redeem codes: all batches, or the codes of one. */
export function CodeBatches() {
  const { search } = useAdminPlace();
  return search.batch === undefined ? <Batches /> : <Codes batchId={search.batch} />;
}

function Batches() {
  const { time_zone: timeZone } = useSession().account;
  const [isCreating, setCreating] = useState(false);
  const [texts, setTexts] = useState<readonly string[] | null>(null);
  const [revoking, setRevoking] = useState<CodeBatch | null>(null);
  const refresh = useAdminRefresh();
  const { rows, more, ...batches } = usePageQuery(adminQueries.adminMoney.batches());
  return (
    <>
      <div>
        <Button look="primary" onClick={() => setCreating(true)}>
          Create codes
        </Button>
      </div>
      <DataTable
        label="Code batches"
        columns={listBatchColumns(timeZone, setRevoking)}
        rows={rows}
        {...batches}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No codes yet.">A code credits an amount to the first account that redeems it.</EmptyState>
        }
      />
      <LoadMore {...more} />
      {isCreating && <CreateDialog onCreated={setTexts} onClose={() => setCreating(false)} />}
      {texts !== null && <TextsDialog texts={texts} onClose={() => setTexts(null)} />}
      {revoking !== null && (
        <ReasonDialog
          title="Revoke the unused codes?"
          submitName="Revoke"
          look="danger"
          send={({ reason }) =>
            ask(
              adminApi.POST("/code-batches/{batch_id}/revoke", {
                params: { path: { batch_id: revoking.id } },
                body: { reason },
              }),
            )
          }
          done="Codes revoked."
          onDone={() => void refresh("adminMoney")}
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
}

function listBatchColumns(timeZone: string, onRevoke: (batch: CodeBatch) => void): Column<CodeBatch>[] {
  return [
    {
      name: "Batch",
      hasNames: true,
      cell: ({ id, note, created_at: createdAt }) => (
        <>
          <AdminLink to="money" search={{ view: "codes", batch: id }} className={linkClasses}>
            {formatDate(createdAt, timeZone)}
          </AdminLink>
          <span className="block text-xs text-ink-soft">{note}</span>
        </>
      ),
    },
    {
      name: "Worth",
      align: "right",
      cell: ({ amount, currency, kind, gift_days: days }) => (
        <>
          {formatMoney(amount, currency)}
          <span className="block text-xs text-ink-soft">{days === null ? kind : `${kind} for ${days} days`}</span>
        </>
      ),
    },
    { name: "Codes", align: "right", isSecondary: true, cell: ({ codes }) => formatCount(codes) },
    { name: "Redeemed", align: "right", cell: ({ redeemed }) => formatCount(redeemed) },
    { name: "Revoked", align: "right", isSecondary: true, cell: ({ revoked }) => formatCount(revoked) },
    {
      name: "Expires",
      isSecondary: true,
      cell: ({ expires_at: expiresAt }) => (expiresAt === null ? "Never" : formatDate(expiresAt, timeZone)),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (batch) =>
        batch.redeemed + batch.revoked < batch.codes && (
          <Button
            look="quiet"
            aria-label={`Revoke the codes of ${formatDate(batch.created_at, timeZone)}`}
            onClick={() => onRevoke(batch)}
          >
            Revoke
          </Button>
        ),
    },
  ];
}

type CreateDialogProps = { onCreated(texts: readonly string[]): void; onClose(): void };

function CreateDialog({ onCreated, onClose }: CreateDialogProps) {
  const refresh = useAdminRefresh();
  const currency = useCurrency();
  const [kind, setKind] = useState<"gift" | "cash">("gift");
  const [amount, setAmount] = useState("");
  const [count, setCount] = useState("1");
  const [days, setDays] = useState("");
  const [note, setNote] = useState("");
  const send = async (reason: string) => {
    const { texts } = await ask(
      adminApi.POST("/code-batches", {
        body: {
          ...{ kind, amount: amount.trim(), count: Number(count), reason },
          ...(days.trim() === "" ? {} : { gift_days: Number(days) }),
          ...(note.trim() === "" ? {} : { note: note.trim() }),
        },
      }),
    );
    onCreated(texts);
  };
  return (
    <ReasonDialog
      title="Create codes"
      submitName="Create"
      fields={["kind", "amount", "count", "gift_days", "note"]}
      send={({ reason }) => send(reason)}
      done="Codes created."
      onDone={() => void refresh("adminMoney")}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <SelectField
            label="Kind"
            options={[
              { value: "gift", label: "Gift: spent first" },
              { value: "cash", label: "Cash: like a payment" },
            ]}
            value={kind}
            onChange={(word) => setKind(word === "cash" ? "cash" : "gift")}
            error={errorAt("kind")}
          />
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={`Amount of each code (${currency ?? ""})`}
              name="amount"
              inputMode="decimal"
              value={amount}
              onChange={setAmount}
              error={errorAt("amount")}
            />
            <TextField
              label="Number of codes"
              name="count"
              inputMode="numeric"
              value={count}
              onChange={setCount}
              error={errorAt("count")}
            />
          </div>
          {kind === "gift" && (
            <TextField
              label="Days until the gift expires"
              name="gift_days"
              inputMode="numeric"
              placeholder="Never"
              value={days}
              onChange={setDays}
              error={errorAt("gift_days")}
            />
          )}
          <TextField
            label="Note"
            name="note"
            maxLength={200}
            hint="For yourself, such as the occasion."
            value={note}
            onChange={setNote}
            error={errorAt("note")}
          />
        </>
      )}
    </ReasonDialog>
  );
}

function TextsDialog({ texts, onClose }: { texts: readonly string[]; onClose(): void }) {
  const all = texts.join("\n");
  return (
    <Dialog title="Save your codes" onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p className="text-sm">They are shown only now: the database has their hashes.</p>
        <textarea
          readOnly
          aria-label="Codes"
          rows={Math.min(texts.length, 8)}
          value={all}
          className="w-full rounded-md border border-line bg-sunken px-3 py-2 font-mono text-sm"
        />
        <div className="flex flex-wrap justify-end gap-3">
          <CopyButton text={all} />
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const looks = {
  open: { kind: "good", name: "Open" },
  redeemed: { kind: "busy", name: "Redeemed" },
  revoked: { kind: "neutral", name: "Revoked" },
  expired: { kind: "neutral", name: "Expired" },
} as const;

function Codes({ batchId }: { batchId: string }) {
  const { time_zone: timeZone } = useSession().account;
  const [revoking, setRevoking] = useState<Code | null>(null);
  const refresh = useAdminRefresh();
  const currency = useCurrency() ?? "USD";
  const { rows, more, ...codes } = usePageQuery(adminQueries.adminMoney.codes(batchId));
  const columns: Column<Code>[] = [
    { name: "Code", cell: ({ preview }) => <code className="font-mono">{preview}</code> },
    { name: "Worth", align: "right", cell: ({ amount }) => formatMoney(amount, currency) },
    { name: "Status", cell: ({ state }) => <Badge kind={looks[state].kind}>{looks[state].name}</Badge> },
    {
      name: "Redeemed by",
      hasNames: true,
      cell: ({ redeemed_by: id, redeemed_at: at }) =>
        id !== null && (
          <>
            <AccountCell id={id} email={null} />
            {at !== null && <span className="block text-xs text-ink-soft">{formatDate(at, timeZone)}</span>}
          </>
        ),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (code) =>
        code.state === "open" && (
          <Button look="quiet" aria-label={`Revoke ${code.preview}`} onClick={() => setRevoking(code)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      <AdminLink to="money" search={{ view: "codes" }} className={`text-sm ${linkClasses}`}>
        All batches
      </AdminLink>
      <DataTable
        label="Codes"
        columns={columns}
        rows={rows}
        {...codes}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No codes.">There is no such batch.</EmptyState>}
      />
      <LoadMore {...more} />
      {revoking !== null && (
        <ReasonDialog
          title="Revoke this code?"
          submitName="Revoke"
          look="danger"
          send={({ reason }) =>
            ask(
              adminApi.POST("/codes/{code_id}/revoke", {
                params: { path: { code_id: revoking.id } },
                body: { reason },
              }),
            )
          }
          done="Code revoked."
          onDone={() => void refresh("adminMoney")}
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
}
