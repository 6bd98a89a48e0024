import { Link } from "@tanstack/react-router";
import { Card } from "../design/card.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { linkClasses } from "../parts/focus-page.tsx";
import { PageFrame } from "../parts/page-frame.tsx";
import { useSession } from "../parts/use-session.ts";

/** Where people arrive: who they are here, and where to go on. */
export function ConsolePage() {
  const { user, account } = useSession();
  const baseUrl = `${location.origin}/v1`;
  return (
    <PageFrame title="Console" intro={`Signed in as ${user.email}.`}>
      <div className="grid gap-6 md:grid-cols-2">
        <Card title="Call the API" intro="Point any OpenAI client at this address.">
          <div className="flex flex-wrap items-center gap-3">
            <code className="min-w-0 flex-1 rounded-md bg-sunken px-3 py-2 font-mono text-sm">{baseUrl}</code>
            <CopyButton text={baseUrl} />
          </div>
          <p className="mt-4 text-sm text-ink-soft">
            What it can do is in the{" "}
            <a href="/docs" className={linkClasses}>
              API reference
            </a>
            .
          </p>
        </Card>
        <Card title="Your account" intro="Give this name when you ask for help.">
          <div className="flex flex-wrap items-center gap-3">
            <code className="min-w-0 flex-1 rounded-md bg-sunken px-3 py-2 font-mono text-sm">{account.id}</code>
            <CopyButton text={account.id} />
          </div>
          <p className="mt-4 text-sm text-ink-soft">
            Password, passkeys, sessions and connected programs are under{" "}
            <Link to="/security" className={linkClasses}>
              Security
            </Link>
            .
          </p>
        </Card>
      </div>
    </PageFrame>
  );
}
