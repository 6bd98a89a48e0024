import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Badge } from "../../design/badge.tsx";
import { CodeText } from "../../design/code-text.tsx";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import type { OperationAnswer } from "./send-operation.ts";

type AnswerViewProps = {
  answer: OperationAnswer;
  /** Whether the request log has it: console reads are not logged. */
  isLogged: boolean;
};

/** The response: status, time, relevant headers and body. */
export function AnswerView({ answer, isLogged }: AnswerViewProps) {
  const { status, headers, durationMs, text, bytes, requestId, isComplete } = answer;
  return (
    <section aria-label="Response" aria-busy={!isComplete} className="flex min-w-0 flex-col gap-3">
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <Badge kind={status < 400 ? "good" : "bad"}>{status}</Badge>
        <span className="text-ink-soft tabular-nums">{Math.round(durationMs)} ms</span>
        {isLogged && requestId !== null && (
          <Link to="/console/requests/$id" params={{ id: requestId }} className={linkClasses}>
            Open in the request log
          </Link>
        )}
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 font-mono text-xs">
        {headers.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {text !== null && text !== "" && (
        // biome-ignore lint/a11y/useSemanticElements: the section around it is the landmark.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the text scrollable by keyboard.
        <div role="group" aria-label="Body" tabIndex={0} className="max-h-96 overflow-auto rounded-md bg-sunken">
          <pre className="p-4 font-mono text-xs">
            <CodeText label="" code={text} />
          </pre>
        </div>
      )}
      {bytes !== null && <Bytes bytes={bytes} />}
    </section>
  );
}

/** Binary bodies get a download link. */
function Bytes({ bytes }: { bytes: Blob }) {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(bytes);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  const [kind = "", form = "bin"] = bytes.type.split("/");
  return (
    <div className="flex flex-col gap-3 text-sm">
      {address !== null && kind === "image" && <img src={address} alt="Response" className="max-h-80 rounded-md" />}
      {address !== null && kind === "audio" && (
        // biome-ignore lint/a11y/useMediaCaption: the request contains the text.
        <audio controls src={address} className="w-full" />
      )}
      {address !== null && (
        <a href={address} download={`answer.${form}`} className={linkClasses}>
          Save {bytes.type}, {formatBytes(bytes.size)}
        </a>
      )}
    </div>
  );
}
