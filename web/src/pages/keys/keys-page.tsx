import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { newKey } from "./key-labels.ts";
import { KeyTable } from "./key-table.tsx";

const route = getRouteApi("/signed-in/console/console/keys");
const OpenKey = lazyPart(async () => (await import("./open-key.tsx")).OpenKey);

/** The open dialog is in the URL, so it survives a new sign-in. */
export function KeysPage() {
  const navigate = route.useNavigate();
  const [{ ended }, change] = useSearchControls(route.useSearch(), navigate);
  const begin = () => void navigate({ search: (last) => ({ ...last, key: newKey }) });
  const create = (
    <Button look="primary" onClick={begin}>
      <Icon name="plus" />
      Create key
    </Button>
  );
  return (
    <ConsoleFrame
      title="API keys"
      intro="API keys authenticate your requests. Create one per program to track its spending and revoke it separately."
      actions={create}
    >
      <div className="flex flex-col gap-6">
        <KeyTable
          label="API keys"
          status="live"
          empty={
            <EmptyState title="No API keys yet" action={create}>
              A key authenticates your requests. You see it once, when you create it.
            </EmptyState>
          }
        />
        <CheckField
          label="Show expired and revoked"
          isChecked={ended !== undefined}
          onChange={(isShown) => change({ ended: isShown ? "1" : "" })}
        />
        {ended !== undefined && (
          <section aria-labelledby="ended-keys" className="flex flex-col gap-3">
            <h2 id="ended-keys" className="text-lg font-semibold">
              Expired and revoked keys
            </h2>
            <KeyTable
              label="Expired and revoked keys"
              status="ended"
              empty={
                <EmptyState title="No expired or revoked keys">
                  Keys appear here when they expire or are revoked.
                </EmptyState>
              }
            />
          </section>
        )}
      </div>
      <OpenKey />
    </ConsoleFrame>
  );
}
