import { type ReactNode, useEffect, useState } from "react";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Notice } from "../../../design/notice.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import {
  type ActiveCatalog,
  type CatalogCheck,
  type CatalogSimulation,
  checkCatalog,
  simulateCatalog,
} from "../fetch-admin.ts";
import { ApplyDialog } from "./apply-dialog.tsx";
import { CatalogEditor } from "./catalog-editor.tsx";
import { CatalogForms } from "./catalog-forms.tsx";
import { DiffView } from "./diff-view.tsx";
import { SimulationView } from "./simulation-view.tsx";

/** Edits the catalog as a file. `?version=` starts from an older version. */
export function CatalogPage() {
  const { search } = useAdminPlace();
  const active = useTableQuery(adminQueries.adminCatalog.active());
  const { data, error } = active;
  if (data === undefined) {
    return (
      <Frame>
        {error === null ? (
          <Skeleton className="h-128" />
        ) : (
          <LoadFailure error={error} onRetry={() => void active.refetch()} />
        )}
      </Frame>
    );
  }
  return (
    <Frame version={data}>
      {search.version === undefined ? (
        <CatalogDraft key={data.version} active={data} start={data.catalog} />
      ) : (
        <OlderVersion active={data} version={search.version} />
      )}
    </Frame>
  );
}

function Frame({ version, children }: { version?: ActiveCatalog; children: ReactNode }) {
  const told =
    version === undefined || version.applied_at === null
      ? "Models, prices and routes, as a file."
      : `Version ${version.version}, since ${formatMoment(version.applied_at)}${version.by === null ? "" : `, by ${version.by}`}${version.reason === null ? "." : `: ${version.reason}`}`;
  return (
    <ConsoleFrame
      title="Catalog"
      intro={told}
      actions={
        <AdminLink to="catalog/history" className={buttonClasses("plain")}>
          History and schedule
        </AdminLink>
      }
    >
      {children}
    </ConsoleFrame>
  );
}

function OlderVersion({ active, version }: { active: ActiveCatalog; version: string }) {
  const older = useTableQuery(adminQueries.adminCatalog.version(version));
  if (older.data === undefined) {
    if (older.error === null) return <Skeleton className="h-128" />;
    return <LoadFailure error={older.error} onRetry={() => void older.refetch()} />;
  }
  return (
    <div className="flex flex-col gap-4">
      <Notice kind="hint" title={`This is version ${version}.`}>
        Apply it to go back. Prices take effect again from then on.
      </Notice>
      <CatalogDraft key={`${active.version}/${version}`} active={active} start={older.data.catalog} />
    </div>
  );
}

/** Long enough that a typed word is one check. */
const restMs = 400;

function CatalogDraft({ active, start }: { active: ActiveCatalog; start: string }) {
  const [text, setText] = useState(start);
  const [check, setCheck] = useState<{ of: string; found: CatalogCheck } | null>(null);
  const [simulation, setSimulation] = useState<{ of: string; found: CatalogSimulation } | null>(null);
  const [isApplying, setApplying] = useState(false);
  const checking = useAction(checkCatalog, (found, of) => setCheck({ of, found }));
  const simulating = useAction(simulateCatalog, (found, of) => setSimulation({ of, found }));
  const isChanged = text !== active.catalog;
  const current = check?.of === text ? check.found : null;
  const [asked, setAsked] = useState<string | null>(null);
  const { run, isBusy } = checking;
  useEffect(() => {
    // One attempt per text, also if it fails.
    if (!isChanged || asked === text || isBusy) return;
    const timer = setTimeout(() => {
      setAsked(text);
      run(text);
    }, restMs);
    return () => clearTimeout(timer);
  }, [text, isChanged, asked, isBusy, run]);
  const problems = current?.problems ?? [];
  const canApply = isChanged && current?.ok === true;
  return (
    <div className="flex flex-col gap-8">
      <CatalogForms catalog={text} onChange={setText} />
      <CatalogEditor value={text} onChange={setText} marked={new Set(problems.map(({ line }) => line))} />
      <Section
        title="Check"
        actions={
          <>
            {isChanged && (
              <Button look="quiet" onClick={() => setText(active.catalog)}>
                Discard
              </Button>
            )}
            <Button
              isBusy={simulating.isBusy}
              isDisabled={!canApply || current.changes.length === 0}
              onClick={() => simulating.run(text)}
            >
              What if
            </Button>
            <Button look="primary" isDisabled={!canApply} onClick={() => setApplying(true)}>
              Apply
            </Button>
          </>
        }
      >
        <FormError message={checking.errorBeside() ?? simulating.errorBeside()} />
        <div aria-live="polite" className="flex flex-col gap-3">
          <Verdict isChanged={isChanged} check={current} />
        </div>
        {isChanged && <DiffView before={active.catalog} after={text} />}
      </Section>
      {simulation?.of === text && <SimulationView simulation={simulation.found} />}
      {isApplying && (
        <ApplyDialog
          catalog={text}
          baseVersion={active.version}
          onApplied={() => {}}
          onClose={() => setApplying(false)}
        />
      )}
    </div>
  );
}

const shownMax = 20;

function Verdict({ isChanged, check }: { isChanged: boolean; check: CatalogCheck | null }) {
  if (!isChanged) return <p className="text-sm text-ink-soft">This is the active version.</p>;
  if (check === null) return <p className="text-sm text-ink-soft">Checking…</p>;
  if (!check.ok) {
    return (
      <Notice kind="error" title={check.problems.length === 1 ? "1 problem" : `${check.problems.length} problems`}>
        <Places places={check.problems} />
      </Notice>
    );
  }
  return (
    <>
      <Notice kind="success" title="The catalog is valid.">
        {check.changes.length === 0 ? (
          "Only comments and layout change. Applying keeps them, without a new version."
        ) : (
          <ul aria-label="Changes">
            {check.changes.slice(0, shownMax).map((change) => (
              <li key={change}>{change}</li>
            ))}
            {check.changes.length > shownMax && <li>{`and ${check.changes.length - shownMax} more`}</li>}
          </ul>
        )}
      </Notice>
      {check.warnings.length > 0 && (
        <Notice kind="warning" title="Check these before you apply.">
          <Places places={check.warnings} />
        </Notice>
      )}
    </>
  );
}

function Places({ places }: { places: CatalogCheck["problems"] }) {
  return (
    <ul>
      {places.slice(0, shownMax).map(({ line, column, message }) => (
        <li key={`${line}:${column} ${message}`}>
          <span className="font-mono text-xs">{`${line}:${column}`}</span> {message}
        </li>
      ))}
      {places.length > shownMax && <li>{`and ${places.length - shownMax} more`}</li>}
    </ul>
  );
}
