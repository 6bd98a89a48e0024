import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, ask } from "../api/console-api.ts";
import { Mark } from "../design/mark.tsx";
import { Menu, menuItemClasses } from "../design/menu.tsx";
import { PageHeading } from "../design/page-heading.tsx";
import { ThemeChoice } from "./theme-choice.tsx";
import { useAction } from "./use-action.ts";
import { useSession } from "./use-session.ts";

type PageFrameProps = { title: string; intro?: ReactNode; children: ReactNode };

const places = [
  { to: "/console", name: "Console" },
  { to: "/security", name: "Security" },
] as const;

const navigationClasses =
  "rounded-md px-3 py-2 text-sm text-ink-soft hover:bg-sunken hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** A page of somebody who is signed in. In a narrow window the places move into the menu. */
export function PageFrame({ title, intro, children }: PageFrameProps) {
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:m-2 focus-visible:bg-surface focus-visible:p-2"
      >
        Skip to the content
      </a>
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex h-16 max-w-5xl items-center gap-6 px-4 sm:px-6">
          <Link to="/console" className="flex items-center gap-2.5 rounded-sm">
            <Mark />
            <span className="text-lg font-semibold tracking-tight">Sluice</span>
          </Link>
          <nav aria-label="Places" className="hidden gap-1 sm:flex">
            {places.map(({ to, name }) => (
              <Link key={to} to={to} className={navigationClasses}>
                {name}
              </Link>
            ))}
            <a href="/docs" className={navigationClasses}>
              API reference
            </a>
          </nav>
          <div className="ml-auto">
            <AccountMenu />
          </div>
        </div>
      </header>
      <main id="content" className="mx-auto flex w-full max-w-5xl flex-col gap-8 px-4 py-8 sm:px-6 sm:py-12">
        <PageHeading intro={intro}>{title}</PageHeading>
        {children}
      </main>
      <footer className="mx-auto mt-auto flex w-full max-w-5xl justify-end px-4 py-6 sm:px-6">
        <ThemeChoice />
      </footer>
    </div>
  );
}

function AccountMenu() {
  const { user } = useSession();
  const queries = useQueryClient();
  const signOut = useAction(
    () => ask(api.POST("/sign-out", { body: {} })),
    () => {
      queries.clear();
      sessionStorage.clear();
      location.assign("/sign-in");
    },
  );
  return (
    <Menu label={<span className="truncate">{user.email}</span>} accessibleName={`Account of ${user.email}`}>
      <p className="truncate px-3 py-2 text-xs text-ink-soft">{user.email}</p>
      <div className="sm:hidden">
        {places.map(({ to, name }) => (
          <Link key={to} to={to} className={menuItemClasses}>
            {name}
          </Link>
        ))}
        <a href="/docs" className={menuItemClasses}>
          API reference
        </a>
      </div>
      <button type="button" className={menuItemClasses} onClick={() => signOut.run(undefined)}>
        Sign out
      </button>
    </Menu>
  );
}
