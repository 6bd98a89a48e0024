import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import type { Operation } from "../../api/reference-document.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button, buttonClasses } from "../../design/button.tsx";
import { CodeText } from "../../design/code-text.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/notice.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import {
  findMistake,
  listFileFields,
  type OperationAnswer,
  type OperationInput,
  sendOperation,
} from "./send-operation.ts";

type TryDialogProps = { operation: Operation; onClose(): void };

/** Sends an operation with the current session. */
export function TryDialog({ operation, onClose }: TryDialogProps) {
  const session = useTableQuery(queryTable.session.current());
  return (
    <Dialog title={`Try it: ${operation.summary}`} size="wide" onClose={onClose}>
      {session.data === null && <SignInFirst onClose={onClose} />}
      {session.data != null && <TryForm operation={operation} onClose={onClose} />}
    </Dialog>
  );
}

function SignInFirst({ onClose }: { onClose(): void }) {
  const { pathname } = useLocation();
  return (
    <>
      <p className="text-sm">
        Sign in to send this request without a key. Or run the sample code with a key in{" "}
        <code className="font-mono">SLUICE_API_KEY</code>.
      </p>
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Close</Button>
        <Link to="/sign-in" search={{ next: pathname }} className={buttonClasses("primary")}>
          Sign in
        </Link>
      </div>
    </>
  );
}

function TryForm({ operation, onClose }: TryDialogProps) {
  const [input, setInput] = useState<OperationInput>(() => ({ parameters: {}, body: fillBody(operation), files: {} }));
  const { answer, mistake, isBusy, send, stop } = useSending(operation, input);
  const fields = operation.parameters.filter(({ place }) => place !== "header");
  const isAtOnce = operation.method === "GET" && fields.every(({ isRequired }) => isRequired !== true);
  const sendFirst = useEffectEvent(() => void send());
  // GET requests change nothing, so send them right after sign-in.
  useEffect(() => {
    if (isAtOnce) sendFirst();
  }, [isAtOnce]);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Warning operation={operation} />
      {fields.map(({ name, isRequired, example, type }) => (
        <TextField
          key={name}
          label={isRequired === true ? name : `${name} (optional)`}
          value={input.parameters[name] ?? ""}
          onChange={(value) => setInput({ ...input, parameters: { ...input.parameters, [name]: value } })}
          placeholder={example ?? type}
          autoComplete="off"
          spellCheck={false}
        />
      ))}
      {listFileFields(operation).map(({ name, type }) => (
        <FileInput
          key={name}
          name={name}
          isList={type.includes("list")}
          onChoose={(files) => setInput({ ...input, files: { ...input.files, [name]: files } })}
        />
      ))}
      {operation.body !== null && (
        <TextArea
          label={listFileFields(operation).length > 0 ? "Other fields, as JSON" : "Body"}
          value={input.body}
          onChange={(body) => setInput({ ...input, body })}
          className="font-mono text-xs"
          spellCheck={false}
        />
      )}
      {mistake !== null && <Notice kind="error">{mistake}</Notice>}
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={isBusy ? stop : onClose}>{isBusy ? "Stop" : "Close"}</Button>
        <Button look="primary" type="submit" isBusy={isBusy && answer === null} isDisabled={isBusy}>
          {answer === null ? "Send" : "Send again"}
        </Button>
      </div>
      {answer !== null && <AnswerView answer={answer} isLogged={operation.method !== "GET"} />}
    </form>
  );
}

/** The example body, without the user's files. */
function fillBody(operation: Operation): string {
  const [content] = operation.body?.contents ?? [];
  if (content?.example === undefined) return "";
  if (content.mediaType !== "multipart/form-data") return content.example;
  const fields = Object.entries<unknown>(JSON.parse(content.example)).filter(
    ([, value]) => !String(value).startsWith("@"),
  );
  return JSON.stringify(Object.fromEntries(fields), null, 2);
}

function Warning({ operation }: { operation: Operation }) {
  const { data: balance } = useTableQuery(queryTable.balance.now(), { isEnabled: operation.isPaid });
  if (operation.isPaid) {
    const rest = balance && ` Available balance: ${formatMoney(balance.available_balance, balance.currency)}.`;
    return (
      <Notice kind="warning" title="This spends from your balance.">
        This is a real call.{rest}
      </Notice>
    );
  }
  if (operation.method === "GET") return null;
  return (
    <Notice kind="warning" title="This changes your account.">
      This is a real call.
    </Notice>
  );
}

type FileInputProps = { name: string; isList: boolean; onChoose(files: readonly File[]): void };

function FileInput({ name, isList, onChoose }: FileInputProps) {
  return (
    <label className="flex flex-col gap-1.5 text-sm font-medium">
      {name}
      <input
        type="file"
        multiple={isList}
        onChange={(event) => onChoose([...(event.target.files ?? [])])}
        className="min-h-11 rounded-md border border-line-strong p-2 text-sm font-normal"
      />
    </label>
  );
}

function useSending(operation: Operation, input: OperationInput) {
  const [answer, setAnswer] = useState<OperationAnswer | null>(null);
  const [mistake, setMistake] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const under = useRef<AbortController | null>(null);
  const repeat = useReauthentication();
  // Abort when the dialog closes.
  useEffect(() => () => under.current?.abort(), []);
  const send = async () => {
    const found = findMistake(operation, input);
    setMistake(found);
    if (found !== null || isBusy) return;
    const controller = new AbortController();
    under.current = controller;
    setAnswer(null);
    setBusy(true);
    try {
      await repeat(() => sendOperation(operation, input, { signal: controller.signal, onProgress: setAnswer }));
    } catch (error) {
      const reason = error instanceof Error ? error.message : "Something went wrong. Try again.";
      if (!controller.signal.aborted) setMistake(`No response: ${reason}`);
    }
    setBusy(false);
  };
  return { answer, mistake, isBusy, send, stop: () => under.current?.abort() };
}

type AnswerViewProps = {
  answer: OperationAnswer;
  /** Whether the request log has it: console reads are not logged. */
  isLogged: boolean;
};

/** The response: status, time, relevant headers and body. */
function AnswerView({ answer, isLogged }: AnswerViewProps) {
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
