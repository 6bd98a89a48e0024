import type { ReactNode } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { AuthenticatorSection } from "./authenticator-section.tsx";
import { ConnectedClientsSection } from "./connected-clients-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { ProfileSection } from "./profile-section.tsx";
import { ServicesSection } from "./services-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

const allSections: readonly { id: string; name: string; content: ReactNode }[] = [
  { id: "profile", name: "Profile", content: <ProfileSection /> },
  { id: "passkeys", name: "Passkeys", content: <PasskeysSection /> },
  { id: "authenticator", name: "Authenticator app", content: <AuthenticatorSection /> },
  { id: "password", name: "Password", content: <PasswordSection /> },
  { id: "services", name: "Connected services", content: <ServicesSection /> },
  { id: "sessions", name: "Sessions", content: <SessionsSection /> },
  { id: "programs", name: "Connected programs", content: <ConnectedClientsSection /> },
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
