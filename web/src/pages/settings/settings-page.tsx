import type { ReactNode } from "react";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { DataList, DataListText } from "../../design/data-list.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useToast } from "../../design/toast.tsx";
import { describeBrowser } from "../../parts/format/describe-browser.ts";
import { formatMoment, formatSince } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { AuthenticatorSection } from "./authenticator-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { ProfileSection } from "./profile-section.tsx";

/** The last section, below the fold. */
const ActivitySection = lazyPart(
  async () => (await import("./activity-section.tsx")).ActivitySection,
  <Skeleton className="h-40" />,
);

const allSections: readonly { id: string; name: string; content: ReactNode }[] = [
  { id: "profile", name: "Profile", content: <ProfileSection /> },
  { id: "passkeys", name: "Passkeys", content: <PasskeysSection /> },
  { id: "authenticator", name: "Authenticator app", content: <AuthenticatorSection /> },
  { id: "password", name: "Password", content: <PasswordSection /> },
  { id: "services", name: "Connected services", content: <ServicesSection /> },
  { id: "sessions", name: "Sessions", content: <SessionsSection /> },
  { id: "programs", name: "Connected programs", content: <ConnectedClientsSection /> },
  { id: "activity", name: "Activity", content: <ActivitySection /> },
];

export function SettingsPage() {
  const services = useTableQuery(queryTable.services.list());
  // Most sites offer no sign-in services.
  const hasServices = services.data !== undefined && services.data.data.length > 0;
  const sections = allSections.filter(({ id }) => id !== "services" || hasServices);
  return (
    <ConsoleFrame title="Settings" intro="Profile, sign-in and connected programs.">
      <div className="flex flex-col gap-6 xl:flex-row-reverse xl:items-start xl:gap-12">
        <nav aria-label="On this page" className="xl:sticky xl:top-10 xl:w-44 xl:shrink-0">
          <ul className="flex flex-wrap gap-x-1 gap-y-1 xl:flex-col">
            {sections.map(({ id, name }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="flex min-h-9 items-center rounded-md px-2.5 text-sm text-ink-soft first:pl-0 hover:bg-sunken hover:text-ink"
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="flex min-w-0 flex-1 flex-col gap-6">
          {sections.map(({ id, content }) => (
            <div key={id} id={id} className="scroll-mt-6">
              {content}
            </div>
          ))}
        </div>
      </div>
    </ConsoleFrame>
  );
}

function ServicesSection() {
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const services = useTableQuery(queryTable.services.list());
  const connect = useAction(
    (id: string) => repeat(() => ask(api.POST("/services/{id}/connect", { params: { path: { id } }, body: {} }))),
    ({ location: there }) => location.assign(there),
  );
  const disconnect = useAction(
    (id: string) => repeat(() => ask(api.DELETE("/services/{id}", { params: { path: { id } } }))),
    () => {
      showToast("Disconnected. It can no longer sign you in.");
      return answers.refresh("services");
    },
  );
  return (
    <Card title="Connected services" intro="Other services that can sign you in here.">
      <div className="flex flex-col gap-4">
        <FormError message={connect.errorBeside() ?? disconnect.errorBeside()} />
        <DataList label="Connected services" query={services} empty="No services are available." keyOf={({ id }) => id}>
          {({ id, name, connected_at: connectedAt, is_offered: isOffered }) => (
            <>
              <DataListText
                title={name}
                detail={[
                  connectedAt === null ? "Not connected" : `Connected ${formatMoment(connectedAt)}`,
                  ...(isOffered ? [] : ["no longer offered"]),
                ].join(" · ")}
              />
              {connectedAt === null ? (
                <Button isBusy={connect.isBusy} onClick={() => connect.run(id)} aria-label={`Connect ${name}`}>
                  Connect
                </Button>
              ) : (
                <Button look="danger" onClick={() => disconnect.run(id)} aria-label={`Disconnect ${name}`}>
                  Disconnect
                </Button>
              )}
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}

function SessionsSection() {
  const answers = useQueryCache();
  const showToast = useToast();
  const sessions = useTableQuery(queryTable.sessions.list());
  const refresh = (sentence: string) => {
    showToast(sentence);
    return answers.refresh("sessions");
  };
  const endOne = useAction(
    (id: string) => ask(api.DELETE("/sessions/{id}", { params: { path: { id } } })),
    () => refresh("Session ended."),
  );
  const endOthers = useAction(
    () => ask(api.DELETE("/sessions")),
    () => refresh("All other sessions have ended."),
  );
  const hasOthers = (sessions.data?.data.length ?? 0) > 1;
  return (
    <Card
      title="Sessions"
      intro="Where you are signed in. End sessions that you do not recognize, then change your password."
      actions={
        hasOthers && (
          <Button look="danger" isBusy={endOthers.isBusy} onClick={() => endOthers.run(undefined)}>
            End all others
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <FormError message={endOne.errorBeside() ?? endOthers.errorBeside()} />
        <DataList label="Sessions" query={sessions} empty="No sessions." keyOf={({ id }) => id}>
          {(session) => (
            <>
              <DataListText
                title={describeBrowser(session.user_agent)}
                detail={`${session.is_current ? "This session" : `Last seen ${formatSince(session.last_seen_at, new Date())}`} · ${session.address}`}
              />
              {!session.is_current && (
                <Button
                  look="danger"
                  onClick={() => endOne.run(session.id)}
                  aria-label={`End the session of ${describeBrowser(session.user_agent)}`}
                >
                  End
                </Button>
              )}
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}

/** Programs that got a key through browser authorization. */
function ConnectedClientsSection() {
  const answers = useQueryCache();
  const repeat = useReauthentication();
  const showToast = useToast();
  const clients = useTableQuery(queryTable.clients.list());
  const disconnect = useAction(
    (id: string) => repeat(() => ask(api.DELETE("/connected-clients/{id}", { params: { path: { id } } }))),
    () => {
      showToast("Disconnected. Its key is revoked.");
      return answers.refresh("clients");
    },
  );
  return (
    <Card title="Connected programs" intro="Programs that you authorized in the browser.">
      <div className="flex flex-col gap-4">
        <FormError message={disconnect.errorBeside()} />
        <DataList label="Connected programs" query={clients} empty="No program is connected." keyOf={({ id }) => id}>
          {(client) => (
            <>
              <DataListText
                title={client.client}
                detail={[
                  `Connected ${formatMoment(client.created_at)}`,
                  client.last_used_at === null ? "never used" : `used ${formatSince(client.last_used_at, new Date())}`,
                ].join(" · ")}
              />
              <Button
                look="danger"
                onClick={() => disconnect.run(client.id)}
                aria-label={`Disconnect ${client.client}`}
              >
                Disconnect
              </Button>
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}
