import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useLiveChanges } from "../../api/use-live-changes.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { formatMoney, formatRoughMoney } from "../format/format-money.ts";
import { Announcement } from "./announcement.tsx";
import { BrandLinks } from "./brand-links.tsx";
import { BrandMark } from "./brand-mark.tsx";
import { consoleNavigation } from "./console-navigation.ts";
import { lazyPart } from "./lazy-part.tsx";
import { InsideFrame } from "./message-frame.tsx";
import { SearchButton } from "./search-button.tsx";

const linkShape =
  "flex min-h-9 items-center gap-2.5 rounded-md px-2.5 text-sm text-ink-soft hover:bg-sunken hover:text-ink max-lg:min-h-11";

const placeClasses = `${linkShape} aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent`;

/** Loaded separately: sign-in shares this script and has no menu. */
const AccountMenu = lazyPart(async () => (await import("./account-menu.tsx")).AccountMenu, <div className="h-10" />);

/** Operators only: customers never load it. */
const OperatorPlaces = lazyPart(async () => (await import("../../pages/admin/operator-places.tsx")).OperatorPlaces);

export function ConsoleLayout(): ReactNode {
  const { data: session } = useTableQuery(queryTable.session.current());
  useLiveChanges(session?.account.id);
  return (
    <ConsoleShell
      search={<SearchButton />}
      places={session?.operator != null && <OperatorPlaces linkClasses={placeClasses} />}
      foot={
        <>
          <BalanceLink />
          <GuideLink />
          <AccountMenu />
        </>
      }
    >
      <Outlet />
    </ConsoleShell>
  );
}

type ConsoleShellProps = {
  /** Below the service's name, or beside it in a narrow window. */
  search?: ReactNode;
  /** Below the console's pages. */
  places?: ReactNode;
  /** Below the navigation. */
  foot?: ReactNode;
  children: ReactNode;
};

/** The navigation around console pages: a column, or a menu in a narrow window. */
export function ConsoleShell({ search, places, foot = <GuideLink />, children }: ConsoleShellProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: close the menu after navigation.
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:z-30 focus-visible:m-2 focus-visible:bg-surface focus-visible:p-2"
      >
        Skip to content
      </a>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles a key of the controls inside. */}
      <header
        className="border-b border-line bg-surface lg:sticky lg:top-0 lg:flex lg:h-dvh lg:flex-col lg:border-r lg:border-b-0"
        onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
      >
        <div className="flex h-14 items-center gap-1 px-4 lg:h-auto lg:flex-col lg:items-stretch lg:gap-4 lg:px-3 lg:pt-5 lg:pb-2">
          <Link to="/console" className="mr-auto flex min-w-0 items-center gap-2.5 rounded-sm lg:px-2.5">
            <BrandMark />
          </Link>
          {search}
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls="places"
            onClick={() => setOpen(!isOpen)}
            className="flex min-h-10 items-center gap-2 rounded-md px-3 text-sm hover:bg-sunken lg:hidden"
          >
            <Icon name={isOpen ? "close" : "menu"} />
            Menu
          </button>
        </div>
        <div
          id="places"
          className={joinClasses(
            "flex-1 flex-col gap-6 overflow-y-auto px-3 pt-2 pb-4 lg:flex",
            isOpen ? "flex" : "max-lg:hidden",
          )}
        >
          <Places />
          {places}
          <div className="mt-auto flex flex-col gap-1 border-t border-line pt-3">
            {foot}
            <BrandLinks className="px-2.5 pt-2 text-xs text-ink-soft" />
          </div>
        </div>
      </header>
      <div className="min-w-0">
        <Announcement />
        <main id="content">
          <InsideFrame value={true}>{children}</InsideFrame>
        </main>
      </div>
    </div>
  );
}

function GuideLink() {
  return (
    <a href="/docs/guide" className={linkShape}>
      <Icon name="book" />
      Guide and reference
    </a>
  );
}

function Places() {
  return (
    <nav aria-label="Console" className="flex flex-col gap-5">
      {consoleNavigation.map((group) => (
        <div key={group.name}>
          <p className="px-2.5 pb-1 text-xs font-medium text-ink-soft">{group.name}</p>
          <ul className="flex flex-col gap-0.5">
            {group.places.map(({ to, name, icon }) => (
              <li key={to}>
                <Link to={to} activeOptions={{ exact: to === "/console" }} className={placeClasses}>
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The balance on every page; reserves its space while loading. */
function BalanceLink() {
  const { data } = useTableQuery(queryTable.balance.now());
  return (
    <Link
      to="/console/billing"
      className={linkShape}
      title={data === undefined ? undefined : formatMoney(data.available_balance, data.currency)}
    >
      <span className="flex min-w-0 flex-col text-xs">
        Available balance
        <span className="truncate text-sm font-medium text-ink tabular-nums">
          {data === undefined ? "\u00a0" : formatRoughMoney(data.available_balance, data.currency)}
        </span>
      </span>
    </Link>
  );
}
