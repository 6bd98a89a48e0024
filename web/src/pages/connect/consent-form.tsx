import { Fragment, type ReactNode, useEffect, useState } from "react";
import { ApiError, api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useFormDraft } from "../../parts/forms/use-form-draft.ts";
import { FocusPage } from "../../parts/frame/focus-page.tsx";
import { canFetchLoopback, openPopup } from "../../parts/session/deliver-callback.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";

type ConnectRequest = {
  client: string;
  redirect_host: string | null;
  replaces: { created_at: string; last_four: string } | null;
  budget: { amount: string; period: "total" | "day" | "week" | "month"; spent: string } | null;
  kind: "browser" | "device";
  asked: { address: string; is_own_address: boolean; user_agent: string; at: string } | null;
};
type Origin = NonNullable<ConnectRequest["asked"]>;
type Budget = NonNullable<ConnectRequest["budget"]>;
type Answered = (callbackUrl: string | null, popup: Window | null) => void;
type ConsentFormProps = { id: string; request: ConnectRequest; onApproved: Answered; onDenied: Answered };

const armedAfterMs = 800;

export function ConsentForm({ id, request, onApproved, onDenied }: ConsentFormProps) {
  const { user } = useSession();
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { values: draft, change, forget } = useFormDraft(`connect:${id}`, { days: "", budget: "" });
  const isArmed = useArmed(armedAfterMs);
  const repeat = useReauthentication();
  const answerWithPopup = useAnswerWithPopup(request.kind);
  const params = { path: { id } };
  const body = {
    ...(draft.days.trim() === "" ? {} : { expires_in_days: Number(draft.days) }),
    ...(draft.budget.trim() === "" ? {} : { budget: draft.budget.trim() }),
  };

  const approve = useAction(
    () => repeat(() => answerWithPopup(() => ask(api.POST("/connect/requests/{id}/approve", { params, body })))),
    ({ answer, popup }) => {
      forget();
      onApproved(("callback_url" in answer ? answer.callback_url : null) ?? null, popup);
    },
  );
  const deny = useAction(
    () => answerWithPopup(() => ask(api.POST("/connect/requests/{id}/deny", { params, body: {} }))),
    ({ answer, popup }) => onDenied(("callback_url" in answer ? answer.callback_url : null) ?? null, popup),
  );

  return (
    <FocusPage title="Connect a program">
      <p>
        {request.kind === "browser"
          ? "A program on this computer calls itself"
          : "A program that shows a code calls itself"}{" "}
        <strong className="inline-block max-w-full font-mono wrap-anywhere">{request.client}</strong>. It asks for a key
        to your account, {user.email}.
      </p>
      <RequestFacts request={request} currency={site?.currency} />
      {request.kind === "device" && <DeviceWarning isOwnAddress={request.asked?.is_own_address !== false} />}
      <FormError message={approve.errorBeside("expires_in_days", "budget") ?? deny.errorBeside()} />
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (isArmed) approve.run(undefined);
        }}
      >
        <KeyLimits
          request={request}
          currency={site?.currency}
          draft={draft}
          onChange={change}
          errorAt={approve.errorAt}
        />
        <div className="flex flex-col gap-3 sm:flex-row-reverse">
          <Button
            look="primary"
            type="submit"
            className="sm:flex-1"
            isBusy={approve.isBusy}
            isDisabled={!isArmed || deny.isBusy}
          >
            Approve
          </Button>
          <Button
            className="sm:flex-1"
            isBusy={deny.isBusy}
            isDisabled={approve.isBusy}
            onClick={() => deny.run(undefined)}
          >
            Deny
          </Button>
        </div>
      </form>
    </FocusPage>
  );
}

type Fact = [name: string, value: ReactNode];
type RequestFactsProps = { request: ConnectRequest; currency: string | undefined };

function RequestFacts({ request: { redirect_host: host, asked, replaces, budget }, currency }: RequestFactsProps) {
  const replaced =
    replaces && `the key that ends in ${replaces.last_four}, created ${formatMoment(replaces.created_at)}`;
  const facts: Fact[] = [
    ["Access", "Call the API and spend your balance"],
    ...(host === null ? [] : [["Sent to", host] as Fact]),
    ...(asked === null ? [] : listOrigin(asked)),
    ["Replaces", replaced ?? "nothing"],
    ...(budget === null ? [] : [["Budget", describeBudget(budget, currency)] as Fact]),
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-ink-soft">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

function listOrigin({ address, is_own_address: isOwn, user_agent: client, at }: Origin): Fact[] {
  const from = (
    <>
      <span className="font-mono">{address}</span>
      {isOwn ? ", your own address" : ", not your address"}
    </>
  );
  return [
    ["Requested from", from],
    ["Requested at", formatMoment(at)],
    ["User agent", client === "" ? "none" : client],
  ];
}

function describeBudget({ spent, amount, period }: Budget, currency = ""): string {
  const when = period === "total" ? "" : ` this ${period}`;
  return `${spent} of ${amount} ${currency} spent${when}. It stays unless you set another one below.`;
}

function DeviceWarning({ isOwnAddress }: { isOwnAddress: boolean }) {
  return (
    <Notice kind="warning" title="Only approve a request that you just started">
      <p>
        {!isOwnAddress && "The request came from another address than yours. Make sure that it is your machine. "}
        If someone sent you here or gave you a code, deny the request. They could spend your balance.
      </p>
    </Notice>
  );
}

type KeyLimitsProps = RequestFactsProps & {
  draft: { days: string; budget: string };
  onChange(part: Partial<KeyLimitsProps["draft"]>): void;
  errorAt(field: string): string | null;
};

function KeyLimits({ request, currency, draft: { days, budget }, onChange, errorAt }: KeyLimitsProps) {
  const scope = request.budget === null ? "" : ", including what it has already spent";
  const empty = request.budget === null ? "for no limit" : "to keep the budget";
  return (
    <details className="rounded-md border border-line px-4 py-3" open={days !== "" || budget !== "" || undefined}>
      <summary className="text-sm font-medium">Limits</summary>
      <div className="flex flex-col gap-4 pt-4">
        <TextField
          label="Expires after (days)"
          name="expires_in_days"
          type="number"
          min={1}
          max={3650}
          step={1}
          value={days}
          onChange={(next) => onChange({ days: next })}
          hint="Leave empty for a key that works until you disconnect it."
          error={errorAt("expires_in_days")}
        />
        <TextField
          label="Budget"
          name="budget"
          inputMode="decimal"
          value={budget}
          onChange={(next) => onChange({ budget: next })}
          hint={`Spending limit${currency === undefined ? "" : ` in ${currency}`}${scope}. Leave empty ${empty}.`}
          error={errorAt("budget")}
        />
      </div>
    </details>
  );
}

/**
 * Opens the popup before the request, because browsers open windows only during a click. Closes it if the request
 * fails.
 */
function useAnswerWithPopup(kind: ConnectRequest["kind"]) {
  const { data: permission = null } = useTableQuery(queryTable.connect.permission());
  return async <Output,>(perform: () => Promise<Output>): Promise<{ answer: Output; popup: Window | null }> => {
    const needsPopup = kind === "browser" && !canFetchLoopback(location.hostname, permission);
    const popup = needsPopup ? openPopup() : null;
    try {
      return { answer: await perform(), popup };
    } catch (error) {
      popup?.close();
      throw error instanceof ApiError
        ? error
        : new Error("The response could not be sent. Try again.", { cause: error });
    }
  };
}

/**
 * True once the page was visible and focused for the given time without a break. Prevents clickjacking: a click meant
 * for something else cannot hit a button that just appeared.
 */
function useArmed(delayMs: number): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      setArmed(false);
      if (document.visibilityState === "visible" && document.hasFocus()) {
        timer = setTimeout(() => setArmed(true), delayMs);
      }
    };
    start();
    window.addEventListener("focus", start);
    window.addEventListener("blur", start);
    document.addEventListener("visibilitychange", start);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", start);
      window.removeEventListener("blur", start);
      document.removeEventListener("visibilitychange", start);
    };
  }, [delayMs]);
  return isArmed;
}
