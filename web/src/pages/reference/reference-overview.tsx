import { firstCall } from "virtual:first-call";
import { areas } from "virtual:reference";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryTable } from "../../api/query-table.ts";
import type { Sample } from "../../api/reference-document.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeSamples } from "../../design/code-block.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { insertServiceAddress } from "../docs/insert-service-address.ts";
import { OperationList } from "./operation-list.tsx";

export function ReferenceOverview() {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const baseUrl = site?.base_url ?? `${location.origin}/v1`;
  const [first, ...others] = firstCall;
  const samples = [writeOwn(first, baseUrl), ...others.map((sample) => writeOwn(sample, baseUrl))] as const;
  return (
    <div className="flex flex-col gap-12">
      <div className="grid gap-x-14 gap-y-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,30rem)]">
        <div className="flex min-w-0 flex-col gap-8">
          <PageHeading intro="Compatible with OpenAI's and Anthropic's clients. Set the base URL below. The same reference is available as an OpenAPI document.">
            API reference
          </PageHeading>
          <Beginnings baseUrl={baseUrl} />
        </div>
        <div className="min-w-0">
          <CodeSamples label="First call" samples={samples} />
        </div>
      </div>
      {areas.map(({ slug, title, operations }) => (
        <section key={slug} aria-labelledby={slug} className="flex max-w-5xl flex-col gap-3">
          <h2 id={slug} className="scroll-mt-6 text-lg font-semibold">
            <Link to="/docs/reference/$name" params={{ name: slug }} className="rounded-sm hover:underline">
              {title}
            </Link>
          </h2>
          <OperationList operations={operations} />
        </section>
      ))}
    </div>
  );
}

function writeOwn(sample: Sample, baseUrl: string): Sample {
  return { ...sample, code: insertServiceAddress(sample.code, baseUrl) };
}

function Beginnings({ baseUrl }: { baseUrl: string }) {
  return (
    <dl className="flex flex-col gap-6 text-sm">
      <Beginning term="Base URL">
        <span className="flex flex-wrap items-center gap-2">
          <code className="rounded-md border border-line bg-surface px-3 py-1.5 font-mono text-xs">{baseUrl}</code>
          <CopyButton look="quiet" text={baseUrl} />
        </span>
      </Beginning>
      <Beginning term="Authentication">
        <p>
          Send <Code>Authorization: Bearer &lt;API_KEY&gt;</Code>, or <Code>x-api-key</Code> as Anthropic's clients do.
          Call from a server, never from a browser. Create keys in the{" "}
          <Link to="/console/keys" className={linkClasses}>
            console
          </Link>
          .
        </p>
      </Beginning>
      <Beginning term="Clients">
        <p>
          <ChapterWord id="openai-clients">OpenAI's SDKs</ChapterWord> for chat, responses, embeddings, images, speech,
          transcriptions and files; <ChapterWord id="messages">Anthropic's SDKs</ChapterWord> and Claude Code for
          messages; the <ChapterWord id="command-line">command line</ChapterWord> for all of it.
        </p>
      </Beginning>
      <Beginning term="Responses">
        <p>
          Every response has an <Code>x-request-id</Code>. Send a trace ID of your own in{" "}
          <Code>X-Client-Request-Id</Code>; the response returns it. Every <ChapterWord id="errors">error</ChapterWord>{" "}
          has the same body. The document is at{" "}
          <a href="/v1/openapi.json" className={linkClasses}>
            /v1/openapi.json
          </a>
          .
        </p>
      </Beginning>
    </dl>
  );
}

function Beginning({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1.5">
      <dt className="font-medium">{term}</dt>
      <dd className="text-ink-soft">{children}</dd>
    </div>
  );
}

function Code({ children }: { children: ReactNode }) {
  return <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.875em]">{children}</code>;
}

function ChapterWord({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/docs/guide/$chapter" params={{ chapter: id }} className={linkClasses}>
      {children}
    </Link>
  );
}
