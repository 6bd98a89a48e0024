import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { AdminAccount } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { SeeAsDialog } from "./see-as-dialog.tsx";

type ActionProps = { account: AdminAccount; onClose(): void };

/** The changes of an account, each with a reason. */
export function AccountActions({ account }: { account: AdminAccount }) {
  const [open, setOpen] = useState<"credit" | "change" | "suspend" | "resume" | "close" | "see" | null>(null);
  const props = { account, onClose: () => setOpen(null) };
  const isSuspended = account.suspended_at !== null;
  return (
    <>
      <Button look="primary" onClick={() => setOpen("credit")}>
        Book credit
      </Button>
      <Button onClick={() => setOpen("change")}>Change plan and limits</Button>
      {account.members.length > 0 && <Button onClick={() => setOpen("see")}>See as customer</Button>}
      <Button look={isSuspended ? "plain" : "danger"} onClick={() => setOpen(isSuspended ? "resume" : "suspend")}>
        {isSuspended ? "Resume" : "Suspend"}
      </Button>
      {account.closed_at === null && (
        <Button look="danger" onClick={() => setOpen("close")}>
          Close
        </Button>
      )}
      {open === "see" && <SeeAsDialog {...props} />}
      {open === "credit" && <BookCredit {...props} />}
      {open === "change" && <ChangeTerms {...props} />}
      {open === "suspend" && <Suspension {...props} isSuspended />}
      {open === "resume" && <Suspension {...props} isSuspended={false} />}
      {open === "close" && <Closing {...props} />}
    </>
  );
}

function Suspension({ account: { id, email }, onClose, isSuspended }: ActionProps & { isSuspended: boolean }) {
  const refresh = useAdminRefresh();
  const params = { path: { account_id: id } };
  return (
    <ReasonDialog
      title={`${isSuspended ? "Suspend" : "Resume"} ${email}?`}
      submitName={isSuspended ? "Suspend" : "Resume"}
      look={isSuspended ? "danger" : "primary"}
      send={({ reason }) =>
        ask(
          isSuspended
            ? adminApi.POST("/accounts/{account_id}/suspend", { params, body: { reason } })
            : adminApi.POST("/accounts/{account_id}/resume", { params, body: { reason } }),
        )
      }
      done={isSuspended ? "Account suspended." : "Account resumed."}
      onDone={() => void refresh("adminAccounts")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        {isSuspended
          ? "Every call is rejected within a second, and open streams end. Tasks that are running finish."
          : "Calls are accepted again within a second."}
      </p>
    </ReasonDialog>
  );
}

function Closing({ account: { id, email, balance, currency }, onClose }: ActionProps) {
  const refresh = useAdminRefresh();
  return (
    <ReasonDialog
      title={`Close the account of ${email}?`}
      submitName="Close account"
      look="danger"
      send={({ reason }) =>
        ask(adminApi.POST("/accounts/{account_id}/close", { params: { path: { account_id: id } }, body: { reason } }))
      }
      done="Account closed."
      onDone={() => void refresh("adminAccounts")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        Every key is revoked and every session ends. The books stay.{" "}
        {/[1-9]/.test(balance.cash) &&
          `The balance still has ${formatMoney(balance.cash, currency)} of cash: refund it first.`}
      </p>
    </ReasonDialog>
  );
}

type CreditKind = "top_up" | "grant" | "adjust";
type CreditUnit = "money" | "text" | "image" | "video";

const creditKinds: readonly { value: CreditKind; label: string }[] = [
  { value: "top_up", label: "Payment of the owner" },
  { value: "grant", label: "Gift" },
  { value: "adjust", label: "Correction, up or down" },
];

function BookCredit({ account: { id, currency }, onClose }: ActionProps) {
  const refresh = useAdminRefresh();
  const [kind, setKind] = useState<CreditKind>("top_up");
  const [unit, setUnit] = useState<CreditUnit>("money");
  const [amount, setAmount] = useState("");
  const [days, setDays] = useState("");
  const isGrant = kind === "grant";
  return (
    <ReasonDialog
      title="Book credit"
      submitName="Book"
      fields={["amount", "expires_at"]}
      send={(words) =>
        ask(
          adminApi.POST("/accounts/{account_id}/credit", {
            params: { path: { account_id: id } },
            body: {
              ...{ kind, amount: amount.trim(), ...words },
              ...(isGrant ? { unit } : {}),
              ...(isGrant && days !== "" ? { expires_at: addDays(Number(days)) } : {}),
            },
          }),
        )
      }
      done="Credit booked."
      onDone={() => void refresh("adminAccounts")}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <SelectField
            label="Kind"
            options={creditKinds}
            value={kind}
            onChange={(value) => setKind(creditKinds.find((known) => known.value === value)?.value ?? "top_up")}
          />
          {isGrant && (
            <SelectField
              label="Unit"
              options={[
                { value: "money", label: `Money (${currency})` },
                { value: "text", label: "Tokens" },
                { value: "image", label: "Images" },
                { value: "video", label: "Seconds of video" },
              ]}
              value={unit}
              onChange={(value) => setUnit(value as CreditUnit)}
            />
          )}
          <TextField
            label={isGrant && unit !== "money" ? "Amount" : `Amount (${currency})`}
            name="amount"
            inputMode="decimal"
            placeholder={isGrant && unit !== "money" ? "1000" : "10.00"}
            {...(kind === "adjust" ? { hint: "A minus takes credit away, such as -5.00." } : {})}
            value={amount}
            onChange={setAmount}
            error={errorAt("amount")}
          />
          {isGrant && (
            <SelectField
              label="Expires"
              options={[
                { value: "", label: "Never" },
                { value: "30", label: "In 30 days" },
                { value: "90", label: "In 90 days" },
                { value: "365", label: "In a year" },
              ]}
              value={days}
              onChange={setDays}
              error={errorAt("expires_at")}
            />
          )}
        </>
      )}
    </ReasonDialog>
  );
}

const dayMs = 24 * 60 * 60_000;

function addDays(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString();
}

type Limits = AdminAccount["limits"];
type LimitName = keyof Limits;

const limitLabels: readonly { name: LimitName; label: string }[] = [
  { name: "requests_per_minute", label: "Requests per minute" },
  { name: "tokens_per_minute", label: "Tokens per minute" },
  { name: "concurrent_requests", label: "Concurrent requests" },
  { name: "tasks_in_flight", label: "Tasks in flight" },
];

function ChangeTerms({ account, onClose }: ActionProps) {
  const refresh = useAdminRefresh();
  const { data: plans } = useTableQuery(adminQueries.adminPlans.list());
  const [plan, setPlan] = useState(account.plan ?? "");
  const [limits, setLimits] = useState<Readonly<Record<LimitName, string>>>(() => writeLimits(account.limits));
  return (
    <ReasonDialog
      title="Change plan and limits"
      submitName="Save"
      fields={["plan", "limits", ...limitLabels.map(({ name }) => name)]}
      send={({ reason }) =>
        ask(
          adminApi.PATCH("/accounts/{account_id}", {
            params: { path: { account_id: account.id } },
            body: {
              limits: readLimits(limits),
              reason,
              // The same plan would start a new period.
              ...(plan === (account.plan ?? "") ? {} : { plan: plan === "" ? null : plan }),
            },
          }),
        )
      }
      done="Plan and limits changed."
      onDone={() => void refresh("adminAccounts")}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <SelectField
            label="Plan"
            options={[
              { value: "", label: "No plan" },
              ...(plans?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
            value={plan}
            onChange={setPlan}
            error={errorAt("plan")}
          />
          <div className="grid gap-4 sm:grid-cols-2">
            {limitLabels.map(({ name, label }) => (
              <TextField
                key={name}
                label={label}
                name={name}
                inputMode="numeric"
                placeholder={String(account.applied_limits[name])}
                value={limits[name]}
                onChange={(value) => setLimits({ ...limits, [name]: value })}
                error={errorAt(`limits.${name}`) ?? errorAt(name)}
              />
            ))}
          </div>
          <p className="text-sm text-ink-soft">An empty limit is the plan's, or the standard one.</p>
        </>
      )}
    </ReasonDialog>
  );
}

function writeLimits(limits: Limits): Record<LimitName, string> {
  const entries = limitLabels.map(({ name }) => [name, limits[name] === null ? "" : String(limits[name])]);
  return Object.fromEntries(entries) as Record<LimitName, string>;
}

/** A text that is not a number is sent as it is, so that the server names the field. */
function readLimits(texts: Readonly<Record<LimitName, string>>): Limits {
  const entries = limitLabels.map(({ name }) => {
    const text = texts[name].trim();
    return [name, text === "" ? null : /^\d+$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries) as Limits;
}
