import { Link } from "@tanstack/react-router";
import type { Showcase } from "../../api/ask-showcase.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { CodeSamples } from "../../design/code-block.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { writeModelSamples } from "../../parts/samples/code-samples.ts";
import { OfferedModels } from "./offered-models.tsx";
import { Promises } from "./promises.tsx";
import { StatusLine } from "./status-line.tsx";

/** What the service is, in one screen, with a call to try. */
export function LandingPage() {
  const showcase = useTableQuery(queryTable.showcase.offer());
  return (
    <OpenPage footnote={<StatusLine />}>
      <div className="flex flex-col gap-16 py-10 sm:gap-20 sm:py-16">
        <div className="grid items-center gap-10 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)] lg:gap-14">
          <div className="flex flex-col gap-6">
            <PageHeading isLarge>One API for chat, images, video and speech</PageHeading>
            <p className="max-w-prose text-lg text-ink-soft">
              Sluice is an OpenAI-compatible gateway. Chat streams at once; images, video, avatars, dramas and speech
              are tasks that end with a webhook. Billing is prepaid and exact, and a retried call runs and is charged
              once.
            </p>
            <FirstSteps signUp={showcase.data?.sign_up} />
          </div>
          <FirstCall showcase={showcase.data} error={showcase.error} onRetry={() => void showcase.refetch()} />
        </div>
        <Promises />
        <OfferedModels showcase={showcase.data} error={showcase.error} onRetry={() => void showcase.refetch()} />
      </div>
    </OpenPage>
  );
}

/** The next step depends on the session and on whether sign-up is open. */
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
          <div aria-hidden="true" className="h-10 w-40" />
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

type FirstCallProps = { showcase: Showcase | undefined; error: Error | null; onRetry(): void };

/** A call that works as it is, once there is a key. Where there is chat, it is a chat. */
function FirstCall({ showcase, error, onRetry }: FirstCallProps) {
  if (showcase === undefined) {
    if (error !== null) return <LoadFailure title="The first call cannot be shown." error={error} onRetry={onRetry} />;
    return <Skeleton className="h-80" />;
  }
  const model = showcase.models.find(({ type }) => type === "chat") ?? showcase.models[0];
  if (model === undefined) return null;
  return (
    <section aria-label="A first call" className="min-w-0 lg:min-h-80">
      <CodeSamples label="A first call" samples={writeModelSamples(model, showcase.base_url)} />
    </section>
  );
}
