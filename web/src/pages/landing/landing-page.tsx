import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Showcase } from "../../api/ask-showcase.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { PageHeading } from "../../design/page-heading.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { Audiences } from "./audiences.tsx";
import { HeroMedia } from "./hero-media.tsx";
import { Promises } from "./promises.tsx";
import { StatusLine } from "./status-line.tsx";

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
