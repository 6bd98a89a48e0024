import { useState } from "react";
import { buttonClasses } from "../../../design/button.tsx";
import { DayField } from "../../../design/day-field.tsx";
import { Section } from "../../../design/section.tsx";
import { SearchField } from "../search-field.tsx";

const dayMs = 24 * 60 * 60_000;

/** The books of a period, as files. */
export function Books() {
  const [from, setFrom] = useState(() => presentDay(startMonth(new Date(), -1)));
  const [last, setLast] = useState(() => presentDay(new Date(startMonth(new Date(), 0).getTime() - dayMs)));
  const [account, setAccount] = useState("");
  const isWrong = from === "" || last === "" || from > last;
  const link = (path: string, more: Record<string, string> = {}): string => {
    const query = new URLSearchParams({ from, to: isWrong ? "" : findNextDay(last), ...more });
    return `/admin/v1${path}?${query}`;
  };
  const files = [
    {
      name: "Double entries",
      says: "Debit and credit by day and account of the books. On every day, both are equal.",
      links: [{ label: "Download entries", href: link("/books", account === "" ? {} : { account_id: account }) }],
    },
    {
      name: "Revenue by model",
      says: "Calls and what was charged for them, of all accounts.",
      links: [
        { label: "Download by day", href: link("/books/revenue", { by: "day" }) },
        { label: "Download by month", href: link("/books/revenue", { by: "month" }) },
      ],
    },
  ];
  return (
    <>
      <search className="flex flex-wrap items-start gap-3">
        <DayField label="First day" value={from} onChange={setFrom} />
        <DayField
          label="Last day"
          value={last}
          error={isWrong ? "Choose a last day on or after the first." : null}
          onChange={setLast}
        />
        <SearchField isShort label="Account ID" value={account} onChange={setAccount} />
      </search>
      <p className="text-sm text-ink-soft">CSV files. Days are in UTC. An account limits the double entries only.</p>
      {files.map(({ name, says, links }) => (
        <Section key={name} title={name} intro={says}>
          <div className="flex flex-wrap gap-3">
            {links.map(({ label, href }) =>
              isWrong ? (
                <span key={label} aria-disabled="true" className={buttonClasses("plain", "opacity-50")}>
                  {label}
                </span>
              ) : (
                <a key={label} href={href} download className={buttonClasses("plain")}>
                  {label}
                </a>
              ),
            )}
          </div>
        </Section>
      ))}
    </>
  );
}

function presentDay(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function startMonth(now: Date, months: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
}

function findNextDay(day: string): string {
  return presentDay(new Date(Date.parse(day) + dayMs));
}
