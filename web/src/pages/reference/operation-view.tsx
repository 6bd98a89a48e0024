import { Link } from "@tanstack/react-router";
import { type ComponentType, type ReactNode, useState } from "react";
import type { Content, Operation, OperationError, Parameter } from "../../api/reference-document.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { useToast } from "../../design/toast.tsx";
import { useHashTarget } from "../docs/use-hash-target.ts";
import { CodeColumn } from "./code-column.tsx";
import { FieldList, VariantList } from "./field-list.tsx";
import { MethodLabel } from "./method-label.tsx";

const parts = [
  { id: "path-parameters", title: "Path parameters", place: "path" },
  { id: "query-parameters", title: "Query parameters", place: "query" },
  { id: "request-body", title: "Request body", place: "body" },
  { id: "headers", title: "Headers", place: "header" },
  { id: "responses", title: "Responses", place: "answer" },
  { id: "errors", title: "Errors", place: "answer" },
] as const;

/** Description and parameters, with samples beside them. */
export function OperationView({ operation }: { operation: Operation }) {
  useHashTarget(true);
  const { method, path, stability, description, parameters, body, answers, errors } = operation;
  return (
    <div className="grid gap-x-10 gap-y-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,30rem)] xl:gap-x-14">
      <div className="flex min-w-0 flex-col gap-6 xl:col-start-1">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="flex min-w-0 items-baseline gap-2.5 rounded-md border border-line bg-surface px-3 py-1.5 text-sm">
            <MethodLabel method={method} isWhole />
            <code className="min-w-0 font-mono text-xs">/v1{path}</code>
          </p>
          <Badge kind={stability === "beta" ? "good" : "neutral"}>{stability}</Badge>
          <TryIt operation={operation} />
        </div>
        {description.map((paragraph) => (
          <p key={paragraph}>
            <InlineCodeText text={paragraph} />
          </p>
        ))}
        <OnThisPage operation={operation} />
      </div>
      <div className="min-w-0 xl:col-start-2 xl:row-span-2 xl:row-start-1">
        <CodeColumn operation={operation} />
      </div>
      <div className="flex min-w-0 flex-col gap-10 xl:col-start-1">
        <ParameterPart place="path" parameters={parameters} />
        <ParameterPart place="query" parameters={parameters} />
        {body !== null && (
          <Part id="request-body" title="Request body" aside={body.isRequired ? null : "optional"}>
            <ContentFields contents={body.contents} anchor="body" saysRequired />
          </Part>
        )}
        <ParameterPart place="header" parameters={parameters} />
        <Part id="responses" title="Responses">
          <Answers answers={answers} />
        </Part>
        <Part id="errors" title="Errors">
          <ErrorTable errors={errors} />
        </Part>
      </div>
    </div>
  );
}

function OnThisPage({ operation: { parameters, body } }: { operation: Operation }) {
  const places = new Set<string>([
    "answer",
    ...parameters.map(({ place }) => place),
    ...(body === null ? [] : ["body"]),
  ]);
  return (
    <nav aria-label="On this page" className="flex flex-wrap gap-x-5 gap-y-1 border-y border-line py-2.5 text-sm">
      {parts
        .filter(({ place }) => places.has(place))
        .map(({ id, title }) => (
          <a key={id} href={`#${id}`} className="rounded-sm text-ink-soft hover:text-ink hover:underline">
            {title}
          </a>
        ))}
    </nav>
  );
}

type PartProps = { id: string; title: string; aside?: string | null; children: ReactNode };

function Part({ id, title, aside, children }: PartProps) {
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2">
      <h2 id={id} className="group flex scroll-mt-6 items-baseline gap-2 text-lg font-semibold">
        {title}
        {aside != null && <span className="text-sm font-normal tracking-normal text-ink-soft">{aside}</span>}
        <a
          href={`#${id}`}
          aria-label={`Link to: ${title}`}
          className="rounded-sm font-normal text-ink-soft opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        >
          #
        </a>
      </h2>
      {children}
    </section>
  );
}

function ParameterPart({ place, parameters }: { place: Parameter["place"]; parameters: readonly Parameter[] }) {
  const own = parameters.filter((parameter) => parameter.place === place);
  const part = parts.find((known) => known.place === place);
  if (own.length === 0 || part === undefined) return null;
  return (
    <Part id={part.id} title={part.title}>
      <FieldList fields={own} anchor="parameter" saysRequired />
    </Part>
  );
}

function Answers({ answers }: { answers: Operation["answers"] }) {
  const [chosen, setChosen] = useState(answers[0]?.status ?? "");
  const answer = answers.find(({ status }) => status === chosen);
  if (answers.length === 1) return <ContentFields contents={answer?.contents ?? []} status={chosen} />;
  const tabs = answers.map(({ status }) => ({ id: status, label: status }));
  return (
    <Tabs label="Statuses" tabs={tabs} chosen={chosen} onChoose={setChosen}>
      <ContentFields contents={answer?.contents ?? []} status={chosen} />
    </Tabs>
  );
}

type ContentFieldsProps = { contents: readonly Content[]; anchor?: string; saysRequired?: boolean; status?: string };

/** The fields of each variant; a body without fields shows its type. */
function ContentFields({ contents, anchor, saysRequired = false, status }: ContentFieldsProps) {
  const words = status === undefined ? "" : `${status} `;
  if (contents.length === 0) return <p className="text-sm text-ink-soft">{words}without a body.</p>;
  return contents.map(({ mediaType, fields, variants }) => (
    <div key={mediaType} className="pt-1">
      <p className="text-xs text-ink-soft">
        {words}
        <code className="font-mono">{mediaType}</code>
      </p>
      <FieldList fields={fields} {...(anchor === undefined ? {} : { anchor })} saysRequired={saysRequired} />
      {variants !== undefined && <VariantList variants={variants} of="the body" saysRequired={saysRequired} />}
    </div>
  ));
}

/** Errors by status; each links to its explanation. */
function ErrorTable({ errors }: { errors: readonly OperationError[] }) {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return (
    <dl className="flex flex-col divide-y divide-line text-sm">
      {statuses.map((status) => (
        <div key={status} className="grid grid-cols-[3rem_minmax(0,1fr)] gap-x-3 py-2.5">
          <dt className="font-mono text-xs leading-5 text-ink-soft">{status}</dt>
          <dd className="flex flex-col gap-2">
            {errors
              .filter((error) => error.status === status)
              .map(({ code, meaning }) => (
                <p key={code} className="text-ink-soft">
                  <Link
                    to="/docs/guide/$chapter"
                    params={{ chapter: "errors" }}
                    hash={code}
                    className="rounded-sm font-mono text-xs font-medium text-accent underline underline-offset-4 hover:text-accent-strong"
                  >
                    {code}
                  </Link>{" "}
                  {meaning}
                </p>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

type DialogProps = { operation: Operation; onClose(): void };

/** Loads the dialog when it is first opened. */
function TryIt({ operation }: { operation: Operation }) {
  const [Form, setForm] = useState<ComponentType<DialogProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  const showToast = useToast();
  const open = async () => {
    try {
      const { TryDialog } = await import("./try-dialog.tsx");
      setForm(() => TryDialog);
      setOpen(true);
    } catch {
      showToast("The form could not be loaded. Try again, or reload the page.");
    }
  };
  return (
    <>
      <Button look="primary" className="ml-auto" aria-haspopup="dialog" onClick={() => void open()}>
        <Icon name="playground" />
        Try it
      </Button>
      {isOpen && Form !== null && <Form operation={operation} onClose={() => setOpen(false)} />}
    </>
  );
}
