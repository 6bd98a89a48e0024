import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import type { ServiceStatus, Showcase } from "../../api/fetch-showcase.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { nameType } from "../../parts/format/model-labels.ts";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { madeImages, madeVideos } from "./landing-media.ts";
import { MadeVideo } from "./made-video.tsx";

// Below the fold, so loaded after it.
const MadeWith = lazy(async () => ({ default: (await import("./made-with.tsx")).MadeWith }));
const OfferedCall = lazy(async () => ({ default: (await import("./offered-call.tsx")).OfferedCall }));
const OfferedModels = lazy(async () => ({ default: (await import("./offered-models.tsx")).OfferedModels }));

export function LandingPage() {
  const showcase = useTableQuery(queryTable.showcase.offer());
  const offer = { showcase: showcase.data, error: showcase.error, onRetry: () => void showcase.refetch() };
  return (
    <OpenPage footnote={<StatusLine />}>
      <div className="flex flex-col gap-16 py-10 sm:gap-24 sm:py-16">
        <div className="grid items-center gap-10 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.15fr)] lg:gap-14">
          <div className="flex flex-col gap-6">
            <PageHeading isLarge>One API for chat, images, video and speech</PageHeading>
            <p className="max-w-prose text-lg text-ink-soft">
              One key and one prepaid balance for every model. OpenAI’s clients work unchanged; avatars and whole dramas
              are one request more. Every charge is itemized to the last digit.
            </p>
            <FirstSteps signUp={showcase.data?.sign_up} />
          </div>
          <HeroMedia />
        </div>
        <Audiences />
        <Suspense fallback={<Skeleton className="h-[34rem]" />}>
          <MadeWith />
        </Suspense>
        <div className="grid items-start gap-10 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)] lg:gap-14">
          <Promises />
          <Suspense fallback={<Skeleton className="h-80" />}>
            <OfferedCall {...offer} />
          </Suspense>
        </div>
        <Suspense fallback={<Skeleton className="h-[40rem]" />}>
          <OfferedModels {...offer} />
        </Suspense>
      </div>
    </OpenPage>
  );
}

/** The next step depends on the session and the sign-up policy. */
function FirstSteps({ signUp }: { signUp: Showcase["sign_up"] | undefined }) {
  const { data: session } = useTableQuery(queryTable.session.current());
  const door =
    session != null
      ? { to: "/console", name: "Open the console" }
      : signUp === "open"
        ? { to: "/sign-up", name: "Create an account" }
        : { to: "/sign-in", name: "Sign in" };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-3">
        {session === undefined || (session === null && signUp === undefined) ? (
          <div aria-hidden="true" className="h-10 w-40 noscript:hidden" />
        ) : (
          <Link to={door.to} className={buttonClasses("primary")}>
            {door.name}
          </Link>
        )}
        <Link to="/docs/guide" className={buttonClasses("plain")}>
          Read the guide
        </Link>
      </div>
      {session === null && signUp === "invite" && (
        <p className="text-sm text-ink-soft">New accounts are by invitation.</p>
      )}
    </div>
  );
}

const audiences = [
  {
    who: "Apps with media",
    what: "Images, video, avatars and dramas run as tasks, with progress, signed webhooks and stored files.",
  },
  {
    who: "Agents and their tools",
    what: "Chat Completions, Responses and Messages at one base URL. Claude Code, the AI SDK and LangChain just work.",
  },
  {
    who: "Keys with a budget",
    what: "Each key has its own models, rate limits and budget. Usage by model and key, and a prepaid balance that is never exceeded.",
  },
] as const;

function Audiences() {
  return (
    <ul
      aria-label="Who it is for"
      className="grid overflow-hidden rounded-lg border border-line bg-surface md:grid-cols-3"
    >
      {audiences.map(({ who, what }) => (
        <li
          key={who}
          className="flex flex-col gap-1.5 border-line p-5 not-first:border-t sm:p-6 md:not-first:border-t-0 md:not-first:border-l"
        >
          <h2 className="font-semibold">{who}</h2>
          <p className="text-sm text-ink-soft">{what}</p>
        </li>
      ))}
    </ul>
  );
}

const promises = [
  {
    title: "OpenAI-compatible",
    text: "Change the base URL and the key. OpenAI’s clients, the AI SDK and LangChain work unchanged. Unsupported parameters are rejected by name, never silently dropped.",
  },
  {
    title: "Prepaid and exact",
    text: "The maximum cost of a call is put on hold before it starts. The rest is released when it ends. Every charge shows its price, quantities and total. Undelivered output costs nothing.",
  },
  {
    title: "Idempotent",
    text: "Send an idempotency key, and a retry after a timeout returns the first result: run once, charged once. Webhooks are signed and retried for three days.",
  },
] as const;

function Promises() {
  return (
    <ul aria-label="Guarantees" className="flex flex-col gap-6">
      {promises.map(({ title, text }) => (
        <li key={title} className="flex flex-col gap-2 border-t border-line pt-5">
          <h2 className="font-semibold">{title}</h2>
          <p className="text-sm text-ink-soft">{text}</p>
        </li>
      ))}
    </ul>
  );
}

const looks: Record<ServiceStatus["state"], { dot: string; sentence: string }> = {
  ok: { dot: "bg-success", sentence: "All systems operational" },
  degraded: { dot: "bg-warning", sentence: "Some systems are degraded" },
  down: { dot: "bg-danger", sentence: "Service outage" },
};

const systemNames: Readonly<Record<string, string>> = { api: "API", database: "Database", workers: "Tasks" };

/** Service status, with the affected systems. */
function StatusLine() {
  const { data, error } = useTableQuery(queryTable.showcase.status());
  if (data === undefined) return error === null ? null : <p>Status unavailable</p>;
  const { dot, sentence } = looks[data.state];
  const affected = data.checks
    .filter(({ state }) => state !== "ok")
    .map(({ name }) => systemNames[name] ?? nameType(name));
  return (
    <p className="flex items-center gap-2">
      <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${dot}`} />
      {affected.length === 0 ? `${sentence}.` : `${sentence}: ${affected.join(", ")}.`}
    </p>
  );
}

/** Media generated by the sandbox models. */
function HeroMedia() {
  return (
    <ul aria-label="Made with this API" className="grid grid-cols-3 grid-rows-[auto_auto] gap-2.5 sm:gap-3">
      <Frame kind="Video" className="col-span-2 aspect-video">
        <MadeVideo video={madeVideos.boat} name={madeVideos.boat.prompt} className={fill} />
      </Frame>
      <Frame kind="Avatar" className="row-span-2">
        <MadeVideo video={madeVideos.avatar} name="A speaking avatar" className={fill} />
      </Frame>
      <Frame kind="Image" className="aspect-4/3">
        <img src={madeImages.lighthouse.src} alt={madeImages.lighthouse.prompt} className={fill} />
      </Frame>
      <Frame kind="Image" className="aspect-4/3">
        <img src={madeImages.planet.src} alt={madeImages.planet.prompt} className={fill} />
      </Frame>
    </ul>
  );
}

const fill = "absolute inset-0 size-full object-cover";

function Frame({ kind, className, children }: { kind: string; className: string; children: ReactNode }) {
  return (
    <li className={joinClasses("relative overflow-hidden rounded-lg bg-[#141d21] shadow-float", className)}>
      {children}
      <span className="pointer-events-none absolute top-2 left-2 rounded-sm bg-black/65 px-1.5 py-0.5 text-xs font-medium text-white">
        {kind}
      </span>
    </li>
  );
}
