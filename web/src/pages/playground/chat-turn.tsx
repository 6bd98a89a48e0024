import { useState } from "react";
import { Button } from "../../design/button.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Spinner } from "../../design/spinner.tsx";
import { formatCount, formatMoney } from "../../parts/format/format-money.ts";
import type { Answer, Question, ToolCall, ToolResult, Turn } from "./conversation.ts";
import { MarkdownText } from "./markdown-text.tsx";

type ChatTurnProps = {
  turn: Turn;
  currency: string;
  /** Set only for the last turn of its kind while no response is streaming. */
  onRepeat?(): void;
  onEdit?(): void;
};

export function ChatTurn({ turn, currency, onRepeat, onEdit }: ChatTurnProps) {
  switch (turn.kind) {
    case "question":
      return <QuestionView turn={turn} {...(onEdit === undefined ? {} : { onEdit })} />;
    case "tool-result":
      return <ToolResultView turn={turn} />;
    case "answer":
      return <AnswerView turn={turn} currency={currency} {...(onRepeat === undefined ? {} : { onRepeat })} />;
  }
}

export function QuestionView({ turn, onEdit }: { turn: Question; onEdit?(): void }) {
  return (
    <article aria-label="You" className="flex flex-col items-end gap-1">
      <div className="flex max-w-[85%] flex-col gap-3 rounded-lg rounded-br-sm bg-accent-soft px-4 py-2.5">
        {turn.images.map(({ name, url }) => (
          <img key={url} src={url} alt={name} className="max-h-64 rounded-md object-contain" />
        ))}
        {turn.text !== "" && <p className="whitespace-pre-wrap">{turn.text}</p>}
      </div>
      {onEdit !== undefined && (
        <Button look="quiet" onClick={onEdit}>
          Edit
        </Button>
      )}
    </article>
  );
}

function ToolResultView({ turn }: { turn: ToolResult }) {
  return (
    <article aria-label={`Result of ${turn.name}`} className="rounded-md border border-line px-4 py-2.5">
      <p className="text-xs text-ink-soft">
        Result of <code className="font-mono">{turn.name}</code>
      </p>
      <p className="mt-1 font-mono text-sm whitespace-pre-wrap">{turn.text}</p>
    </article>
  );
}

export function AnswerView({ turn, currency, onRepeat }: { turn: Answer; currency: string; onRepeat?(): void }) {
  const isComing = turn.state === "streaming";
  const isSilent = turn.text === "" && turn.toolCalls.length === 0;
  return (
    <article aria-label={`Response of ${turn.model}`} aria-busy={isComing} className="flex min-w-0 flex-col gap-3">
      <p className="text-xs font-medium text-ink-soft">{turn.model}</p>
      {turn.reasoning !== "" && <Reasoning text={turn.reasoning} />}
      {turn.text !== "" && <MarkdownText text={turn.text} />}
      {turn.toolCalls.map((call) => (
        <ToolCallView key={call.id} call={call} />
      ))}
      {isComing && isSilent && (
        <p className="flex items-center gap-2 text-sm text-ink-soft">
          <Spinner />
          Waiting for the first token
        </p>
      )}
      {turn.state === "complete" && isSilent && <p className="text-sm text-ink-soft">The response is empty.</p>}
      {turn.remark !== null && (
        <p className="text-sm text-warning">
          <InlineCodeText text={turn.remark} />
        </p>
      )}
      {!isComing && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Bill turn={turn} currency={currency} />
          <div className="ml-auto flex gap-2">
            {onRepeat !== undefined && (
              <Button look="quiet" onClick={onRepeat}>
                Regenerate
              </Button>
            )}
            {turn.text !== "" && <CopyButton text={turn.text} />}
          </div>
        </div>
      )}
    </article>
  );
}

function Bill({ turn: { bill, firstTokenMs, totalMs }, currency }: { turn: Answer; currency: string }) {
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft tabular-nums">
      {bill !== null && (
        <>
          <Fact name="Cost" value={formatMoney(bill.charge, currency)} isStrong />
          {bill.inputTokens !== undefined && <Fact name="Input tokens" value={formatCount(bill.inputTokens)} />}
          {bill.outputTokens !== undefined && <Fact name="Output tokens" value={formatCount(bill.outputTokens)} />}
        </>
      )}
      {firstTokenMs !== null && <Fact name="Time to first token" value={formatSpan(firstTokenMs)} />}
      {totalMs !== null && <Fact name="Total time" value={formatSpan(totalMs)} />}
    </dl>
  );
}

function Fact({ name, value, isStrong = false }: { name: string; value: string; isStrong?: boolean }) {
  return (
    <div className="flex gap-1">
      <dt>{name}</dt>
      <dd className={isStrong ? "font-medium text-ink" : "text-ink"}>{value}</dd>
    </div>
  );
}

function formatSpan(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function Reasoning({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} className="text-sm text-ink-soft">
      <summary>Reasoning</summary>
      <p className="mt-2 border-l-2 border-line pl-3 whitespace-pre-wrap">{text}</p>
    </details>
  );
}

function ToolCallView({ call }: { call: ToolCall }) {
  return (
    <div className="rounded-md border border-line bg-sunken px-4 py-2.5 text-sm">
      <p>
        Calls <code className="font-mono font-medium">{call.name}</code> with
      </p>
      <pre className="mt-1 overflow-x-auto font-mono text-xs whitespace-pre-wrap">{presentArguments(call)}</pre>
    </div>
  );
}

/** Incomplete arguments are not valid JSON yet. */
function presentArguments({ argumentsText }: ToolCall): string {
  try {
    return JSON.stringify(JSON.parse(argumentsText), null, 2);
  } catch {
    return argumentsText;
  }
}
