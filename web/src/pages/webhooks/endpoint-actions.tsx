import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { Endpoint } from "../../api/fetch-webhooks.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { type Action, useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

type EndpointActionsProps = { endpoint: Endpoint; onChanged(): Promise<void> };
type DeedProps = EndpointActionsProps & { onClose(): void };

const route = getRouteApi("/signed-in/console/console/webhooks/$id");
const nameOf = ({ id }: Endpoint) => ({ params: { path: { id } } });

/** The open dialog is in the URL, so it survives a new sign-in. */
export function EndpointActions({ endpoint, onChanged }: EndpointActionsProps) {
  const { do: deed } = route.useSearch();
  const navigate = route.useNavigate();
  const showToast = useToast();
  const begin = (next: string) => void navigate({ search: { do: next } });
  const toggle = useAction(
    () => ask(api.PATCH("/webhook_endpoints/{id}", { ...nameOf(endpoint), body: { enabled: !endpoint.enabled } })),
    ({ enabled }) => {
      showToast(enabled ? "Endpoint enabled." : "Endpoint disabled. Pending deliveries are dropped.");
      return onChanged();
    },
  );
  const props: DeedProps = { endpoint, onChanged, onClose: () => void navigate({ search: {} }) };
  return (
    <>
      <Button onClick={() => begin("edit")}>Edit</Button>
      <Button isBusy={toggle.isBusy} onClick={() => toggle.run(undefined)}>
        {endpoint.enabled ? "Disable" : "Enable"}
      </Button>
      <Button onClick={() => begin("rotate")}>Rotate secret</Button>
      <Button look="danger" onClick={() => begin("delete")}>
        Delete
      </Button>
      <FormError message={toggle.errorBeside()} />
      {deed === "edit" && <EditEndpoint {...props} />}
      {deed === "rotate" && <RotateSecret {...props} />}
      {deed === "delete" && <DeleteEndpoint {...props} />}
    </>
  );
}

function EditEndpoint({ endpoint, onChanged, onClose }: DeedProps) {
  const showToast = useToast();
  return (
    <Dialog title="Edit endpoint" size="wide" onClose={onClose}>
      <EndpointForm
        endpoint={endpoint}
        submitName="Save"
        send={(body) => ask(api.PATCH("/webhook_endpoints/{id}", { ...nameOf(endpoint), body }))}
        onDone={() => {
          showToast("Endpoint updated.");
          onClose();
          void onChanged();
        }}
        onGivenUp={onClose}
      />
    </Dialog>
  );
}

function RotateSecret({ endpoint, onChanged, onClose }: DeedProps) {
  const repeat = useReauthentication();
  const [made, setMade] = useState<Endpoint | null>(null);
  const rotate = useAction(
    () => repeat(() => ask(api.POST("/webhook_endpoints/{id}/rotate_secret", { ...nameOf(endpoint), body: {} }))),
    (next) => {
      setMade(next);
      return onChanged();
    },
  );
  if (made?.secret !== undefined) {
    return (
      <SecretDialog
        title="Save the new secret"
        secret={made.secret}
        isShownOnce
        previousUntil={made.previous_secret_expires_at}
        onClose={onClose}
      />
    );
  }
  return (
    <Confirmation title="Rotate secret" confirmName="Rotate" look="primary" action={rotate} onClose={onClose}>
      Events are signed with a new secret from now on. For 24 hours every event carries both signatures, so your
      receiver can switch without missing events.
    </Confirmation>
  );
}

function DeleteEndpoint({ endpoint, onChanged, onClose }: DeedProps) {
  const navigate = route.useNavigate();
  const showToast = useToast();
  const remove = useAction(
    () => ask(api.DELETE("/webhook_endpoints/{id}", nameOf(endpoint))),
    async () => {
      showToast("Endpoint deleted.");
      await navigate({ to: "/console/webhooks" });
      await onChanged();
    },
  );
  return (
    <Confirmation title="Delete endpoint" confirmName="Delete endpoint" look="danger" action={remove} onClose={onClose}>
      No more events are sent to {endpoint.url}, and pending deliveries are dropped.
    </Confirmation>
  );
}

type ConfirmationProps = {
  title: string;
  /** The consequence of confirming. */
  children: ReactNode;
  confirmName: string;
  look: "primary" | "danger";
  action: Action<undefined>;
  onClose(): void;
};

/** A confirmation before an action that is hard to undo. */
function Confirmation({ title, children, confirmName, look, action, onClose }: ConfirmationProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-sm text-ink-soft">{children}</p>
      <FormError message={action.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look={look} isBusy={action.isBusy} onClick={() => action.run(undefined)}>
          {confirmName}
        </Button>
      </div>
    </Dialog>
  );
}
