import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Model } from "../../../api/fetch-catalog.ts";
import type { ApiKey } from "../../../api/fetch-keys.ts";
import type { Charge } from "../../../api/fetch-spending.ts";
import { queryTable } from "../../../api/query-table.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { CodeBlock } from "../../../design/code-block.tsx";
import { CopyButton } from "../../../design/copy-button.tsx";
import { Section } from "../../../design/section.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { Tabs } from "../../../design/tabs.tsx";
import { formatRoughMoney } from "../../../parts/format/format-money.ts";
import { isMoneyZero } from "../../../parts/format/sum-money.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { SupportContact } from "../../../parts/records/support-contact.tsx";
import { writeTerminalSamples } from "../../../parts/samples/terminal-samples.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { CallWatch } from "./call-watch.tsx";
import { Step } from "./step.tsx";
import { type KeyCreation, useFirstKey } from "./use-first-key.ts";

/** Placeholder for an unknown key. */
const unknownKey = "sk-slc-…";

type FirstRunProps = {
  /** The newest charge, if any. */
  charge: Charge | undefined;
  /** The newest task, if that was the first call. */
  taskId: string | undefined;
  onHide(): void;
};

/** For an account without calls: credit, a key, a call to paste, and its outcome. */
export function FirstRun({ charge, taskId, onHide }: FirstRunProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  const { data: keys } = useTableQuery(queryTable.keys.live());
  const [sampleId, setSampleId] = useState("curl");
  const callable = models?.data.filter(({ status }) => status !== "unavailable");
  const model = callable?.find(({ type }) => type === "chat") ?? callable?.[0];
  const write = (key: string) =>
    site === undefined || model === undefined
      ? null
      : writeTerminalSamples(model, { baseUrl: site.base_url, siteUrl: location.origin, key });
  const creation = useFirstKey((key) => {
    const samples = write(key);
    return samples === null ? key : chooseSample(samples, sampleId).code;
  });
  const { made } = creation;
  const known = keys?.data.find(({ kind }) => kind !== "console");
  const hasKey = made !== null || known !== undefined;
  const samples = write(made?.apiKey.key ?? unknownKey);
  return (
    <Section
      title="Make your first call"
      intro="Create a key, paste the call into a terminal, and watch it arrive."
      actions={
        charge === undefined && taskId === undefined ? undefined : (
          <Button look="quiet" className="-mr-2" onClick={onHide}>
            Hide
          </Button>
        )
      }
    >
      <div className="grid gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.7fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <ol className="flex flex-col divide-y divide-line border-y border-line">
            <CreditStep />
            <KeyStep creation={creation} known={known} />
          </ol>
          <FormError message={creation.error} />
          <CallWatch hasKey={hasKey} charge={charge} taskId={taskId} />
        </div>
        <div className="min-w-0">
          {samples === null ? (
            <NoCall models={models?.data} />
          ) : (
            <FirstCallSamples samples={samples} chosenId={sampleId} onChoose={setSampleId} isComplete={hasKey} />
          )}
        </div>
      </div>
    </Section>
  );
}

function NoCall({ models }: { models: Model[] | undefined }): ReactNode {
  if (models === undefined || models.length > 0) return <Skeleton className="h-72 w-full" />;
  return <p className="text-sm text-ink-soft">No models yet: the operator decides which models accounts can use.</p>;
}

type KeyStepProps = { creation: KeyCreation; known: ApiKey | undefined };

/** Creates the key and shows it once. */
function KeyStep({ creation: { made, isBusy, run }, known }: KeyStepProps) {
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

type Samples = ReturnType<typeof writeTerminalSamples>;

type FirstCallProps = {
  samples: Samples;
  chosenId: string;
  onChoose(id: string): void;
  /** Without a key the samples are read-only: a copied call would fail. */
  isComplete: boolean;
};

function chooseSample(samples: Samples, id: string): Samples[number] {
  return samples.find((sample) => sample.id === id) ?? samples[0];
}

/** The call in several languages: tabs, or a select in narrow windows. */
function FirstCallSamples({ samples, chosenId, onChoose, isComplete }: FirstCallProps) {
  const { id, label, code } = chooseSample(samples, chosenId);
  const name = `First call, ${label}`;
  const block = isComplete ? <CodeBlock label={name} code={code} /> : <CodePreview label={name} code={code} />;
  return (
    <>
      <div className="hidden sm:block">
        <Tabs<string> label="First call" tabs={samples} chosen={id} onChoose={onChoose}>
          {block}
        </Tabs>
      </div>
      <div className="flex flex-col gap-3 sm:hidden">
        <SelectField
          label="Call it with"
          options={samples.map((sample) => ({ value: sample.id, label: sample.label }))}
          value={id}
          onChange={onChoose}
        />
        {block}
      </div>
    </>
  );
}

function CodePreview({ label, code }: { label: string; code: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the code scrollable by keyboard.
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-md border border-line bg-sunken">
      <pre className="p-4 font-mono text-xs text-ink-soft">
        <code>{code}</code>
      </pre>
    </section>
  );
}

/** The account's credit, or how to get some. */
function CreditStep() {
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (balance === undefined || site === undefined) {
    return (
      <Step title="Credit" isDone={false}>
        <Skeleton className="h-5 w-40" />
      </Step>
    );
  }
  if (balance.plan !== null || !isMoneyZero(balance.available_balance)) {
    const amount = formatRoughMoney(balance.available_balance, balance.currency);
    return (
      <Step title={isMoneyZero(balance.available_balance) ? "Credit" : `${amount} of credit`} isDone>
        <p>{balance.plan === null ? "Calls use this credit." : `Your plan: ${balance.plan.name}.`}</p>
      </Step>
    );
  }
  return (
    <Step title="No credit yet" isDone={false}>
      {site.payments === "stripe" ? (
        <p>
          Calls are paid from your balance.{" "}
          <Link to="/console/billing" className={linkClasses}>
            Add credit by card, or redeem a code
          </Link>
          .
        </p>
      ) : (
        <AskForCredit contact={site.support_contact} />
      )}
    </Step>
  );
}

function AskForCredit({ contact }: { contact: string | null }) {
  const { email } = useSession().user;
  return (
    <p>
      Card payments aren't enabled here. Ask <SupportContact contact={contact} /> to add credit to{" "}
      <strong className="font-medium break-all text-ink">{email}</strong>, or for a code to{" "}
      <Link to="/console/billing" className={linkClasses}>
        redeem in Billing
      </Link>
      .
    </p>
  );
}
