import type { ApiKey } from "../../../api/ask-keys.ts";
import { Button } from "../../../design/button.tsx";
import { CopyButton } from "../../../design/copy-button.tsx";
import { Step } from "./step.tsx";
import type { KeyCreation } from "./use-first-key.ts";

type KeyStepProps = { creation: KeyCreation; known: ApiKey | undefined };

/** Creates the key and shows it once. */
export function KeyStep({ creation: { made, isBusy, run }, known }: KeyStepProps) {
  if (made !== null) {
    return (
      <Step title={made.isCopied ? "Key created, call copied" : "Key created"} isDone>
        <section
          aria-label="Your new key"
          className="flex w-full items-center gap-2 rounded-md bg-sunken py-1 pr-1 pl-3"
        >
          <code className="min-w-0 flex-1 font-mono text-xs break-all text-ink">{made.apiKey.key}</code>
          <CopyButton look="quiet" text={made.apiKey.key} />
        </section>
        <p>It is shown only once. Anyone who has it can spend your balance. Save it in a safe place.</p>
      </Step>
    );
  }
  return (
    <Step title={known === undefined ? "API key" : `Key ${known.preview ?? known.name}`} isDone={known !== undefined}>
      <p>
        {known === undefined
          ? "Authenticates your requests. It is inserted into the call and shown once."
          : "Insert it into the call. If you did not save it, create another."}
      </p>
      <Button look={known === undefined ? "primary" : "plain"} isBusy={isBusy} onClick={run}>
        {known === undefined ? "Create key and copy the call" : "Create another and copy the call"}
      </Button>
    </Step>
  );
}
