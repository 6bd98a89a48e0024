import { Badge } from "../../design/badge.tsx";
import { Breadcrumbs } from "../../design/breadcrumbs.tsx";
import { Card } from "../../design/card.tsx";
import { CodeBlock, CodeSamples, TitledCode } from "../../design/code-block.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Mark } from "../../design/mark.tsx";
import { Notice } from "../../design/notice.tsx";
import { PageSection } from "../../design/page-section.tsx";
import { RequestId } from "../../design/request-id.tsx";
import { SecretText } from "../../design/secret-text.tsx";

const failure = Object.assign(new Error("The service is busy."), { requestId: "req_0190000000000000" });
const json = '{ "model": "sandbox-chat", "stream": true, "n": 1 }';

export function ShownWords() {
  return (
    <>
      <Mark />
      <Breadcrumbs links={[{ id: "usage", link: <a href="#usage">Usage</a> }]} />
      {["text-4xl", "text-2xl", "text-xl", "text-lg", "text-base", "text-sm", "text-xs"].map((size) => (
        <p key={size} className={`${size} font-semibold`}>
          {size} One API, $1,234.56
        </p>
      ))}
      <p className="text-ink-soft">Secondary text.</p>
      <div className="flex flex-wrap gap-2">
        {(["neutral", "good", "busy", "warning", "bad"] as const).map((kind) => (
          <Badge key={kind} kind={kind}>
            {kind}
          </Badge>
        ))}
      </div>
      {(["hint", "success", "warning", "error"] as const).map((kind) => (
        <Notice key={kind} kind={kind} title={`A notice: ${kind}`}>
          What happened and what to do.
        </Notice>
      ))}
      <LoadFailure error={failure} onRetry={() => {}} />
      <Card title="A card" intro="One subject on a page." actions={<Badge>new</Badge>}>
        Card content.
      </Card>
      <PageSection title="A section of a page" intro="Without a box." />
      <EmptyState title="Nothing yet" action={<Badge>an action</Badge>}>
        What belongs here, and how to add it.
      </EmptyState>
      <RequestId id={failure.requestId} />
      <CopyableText text="task_0190000000000000" label="the task's id" />
      <SecretText label="A key" text="sk-slc-0000-0000-0000-0000" />
      <TitledCode label="JSON" code={json} />
      <CodeBlock label="Shell" code={'curl -sS "$BASE_URL/models" # all of them'} />
      <CodeSamples
        label="Languages"
        samples={[
          { id: "python", label: "Python", code: 'import os\nprint(os.environ["KEY"], 42)  # a comment' },
          { id: "typescript", label: "TypeScript", code: "const answer: string = await ask(`${42}`); // a comment" },
          { id: "yaml", label: "YAML", code: "models:\n  - id: chat # a comment" },
        ]}
      />
    </>
  );
}
