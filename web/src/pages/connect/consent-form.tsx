import { ApiError, api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { TextField } from "../../design/text-field.tsx";
import { canFetchLoopback, openPopup } from "../../parts/deliver-callback.ts";
import { FocusPage } from "../../parts/focus-page.tsx";
import { FormError } from "../../parts/form-error.tsx";
import { formatMoment } from "../../parts/format-time.ts";
import { useReauthentication } from "../../parts/reauthentication.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useArmed } from "../../parts/use-armed.ts";
import { useDraft } from "../../parts/use-draft.ts";
import { useSession } from "../../parts/use-session.ts";

type ConnectRequest = {
  client: string;
  redirect_host: string | null;
  replaces: { created_at: string; last_four: string } | null;
  budget: { amount: string; period: "total" | "day" | "week" | "month"; spent: string } | null;
  kind: "browser" | "device";
  asked: { address: string; is_own_address: boolean; user_agent: string; at: string } | null;
};
type Answered = (callbackUrl: string | null, popup: Window | null) => void;
type ConsentFormProps = { id: string; request: ConnectRequest; onApproved: Answered; onDenied: Answered };

const armedAfterMs = 800;

export function ConsentForm({ id, request, onApproved, onDenied }: ConsentFormProps) {
  const { user } = useSession();
  const { data: site } = useTableQuery(queryTable.site.settings());
  const [days, setDays] = useDraft(`connect-days-${id}`);
  const [budget, setBudget] = useDraft(`connect-budget-${id}`);
  const isArmed = useArmed(armedAfterMs);
  const repeat = useReauthentication();
  const answerWithPopup = useAnswerWithPopup(request.kind);
  const params = { path: { id } };
  const body = {
    ...(days.trim() === "" ? {} : { expires_in_days: Number(days) }),
    ...(budget.trim() === "" ? {} : { budget: budget.trim() }),
  };

  const approve = useAction(
    () => repeat(() => answerWithPopup(() => ask(api.POST("/connect/requests/{id}/approve", { params, body })))),
    ({ answer, popup }) => {
      setDays("");
      setBudget("");
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
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
        <dt className="text-ink-soft">Access</dt>
        <dd>Call the API and spend your balance</dd>
        {request.redirect_host !== null && (
          <>
            <dt className="text-ink-soft">Sent to</dt>
            <dd className="font-mono">{request.redirect_host}</dd>
          </>
        )}
        {request.asked !== null && (
          <>
            <dt className="text-ink-soft">Requested from</dt>
            <dd className="wrap-anywhere">
              <span className="font-mono">{request.asked.address}</span>
              {request.asked.is_own_address ? ", your own address" : ", not your address"}
            </dd>
            <dt className="text-ink-soft">Requested at</dt>
            <dd>{formatMoment(request.asked.at)}</dd>
            <dt className="text-ink-soft">Client</dt>
            <dd className="wrap-anywhere">{request.asked.user_agent === "" ? "nothing" : request.asked.user_agent}</dd>
          </>
        )}
        <dt className="text-ink-soft">Replaces</dt>
        <dd>
          {request.replaces === null
            ? "nothing"
            : `the key that ends in ${request.replaces.last_four}, created ${formatMoment(request.replaces.created_at)}`}
        </dd>
        {request.budget !== null && (
          <>
            <dt className="text-ink-soft">Budget</dt>
            <dd>
              {request.budget.spent} of {request.budget.amount} {site?.currency} spent
              {request.budget.period === "total" ? "" : ` this ${request.budget.period}`}. It stays unless you set
              another one below.
            </dd>
          </>
        )}
      </dl>
      {request.kind === "device" && (
        <Notice kind="warning" title="Only approve what you started yourself, just now">
          <p>
            {request.asked?.is_own_address === false &&
              "The request came from another address than yours. Make sure that it is your own machine. "}
            If somebody sent you here or gave you a code, deny the request: they would spend your balance.
          </p>
        </Notice>
      )}
      <FormError message={approve.errorBeside("expires_in_days", "budget") ?? deny.errorBeside()} />
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (isArmed) approve.run(undefined);
        }}
      >
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
              onChange={setDays}
              hint="Leave empty for a key that works until you disconnect it."
              error={approve.errorAt("expires_in_days")}
            />
            <TextField
              label="Budget"
              name="budget"
              inputMode="decimal"
              value={budget}
              onChange={setBudget}
              hint={`Spending limit${site === undefined ? "" : `, in ${site.currency}`}${request.budget === null ? ". Leave empty for no limit." : ", including what it has already spent. Leave empty to keep the budget."}`}
              error={approve.errorAt("budget")}
            />
          </div>
        </details>
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

/**
 * Asks the server for an answer to deliver, with the window for it opened first where one will be needed: browsers open
 * windows only while they handle a click. A window for an answer that does not come is closed again.
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
      throw error instanceof ApiError ? error : new Error("The answer could not be sent.", { cause: error });
    }
  };
}
