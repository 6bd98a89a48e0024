import { Link, Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ApiError, ask } from "../../api/console-api.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { ConsoleMissingPage } from "../console-missing-page.tsx";
import { adminApi } from "./admin-api.ts";
import { findAdminPage, firstAdminPage } from "./admin-pages.ts";
import { AdminPlaceProvider, type AdminSearch } from "./admin-place.tsx";
import { adminQueries } from "./admin-query-table.ts";
import { SearchBar } from "./search/search-bar.tsx";

/** Every page of the operator side. Customers see what any unknown address shows. */
export function AdminPage() {
  const { operator } = useSession();
  if (operator === null) return <ConsoleMissingPage />;
  if (!operator.has_second_factor) return <SecondFactorMissing />;
  return <OpenAdmin />;
}

/** The server decides; this asks it once before the page's own requests. */
function OpenAdmin() {
  const identity = useTableQuery(adminQueries.adminIdentity.now());
  const { error } = identity;
  if (identity.data !== undefined) return <ChosenPage />;
  if (error === null) {
    return (
      <ConsoleFrame title="Operator">
        <Skeleton className="h-96" />
      </ConsoleFrame>
    );
  }
  if (error instanceof ApiError && error.code === "not_found") return <ConsoleMissingPage />;
  if (error instanceof ApiError && error.code === "second_factor_required") return <SecondFactorMissing />;
  if (error instanceof ApiError && error.code === "reauthentication_required") {
    return <OneStep onProven={() => void identity.refetch()} />;
  }
  return (
    <ConsoleFrame title="Operator">
      <LoadFailure error={error} onRetry={() => void identity.refetch()} />
    </ConsoleFrame>
  );
}

function ChosenPage() {
  const { _splat: path = "" } = useParams({ strict: false });
  const asked: AdminSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const [search, change] = useSearchControls(asked, (options) =>
    navigate({ ...options, to: "/console/admin/$", params: { _splat: path } }),
  );
  if (path === "") return <Start />;
  const found = findAdminPage(path);
  if (found === null) return <ConsoleMissingPage />;
  const { Page, params } = found;
  return (
    <AdminPlaceProvider value={{ params, search, change }}>
      <SearchBar key={search.find ?? ""} />
      <Page key={Object.values(params).join("/")} />
    </AdminPlaceProvider>
  );
}

/** The checklist while something is open, later the first page. */
function Start() {
  const { data, error } = useTableQuery(adminQueries.adminSetup.steps());
  if (data === undefined && error === null) {
    return (
      <ConsoleFrame title="Operator">
        <Skeleton className="h-96" />
      </ConsoleFrame>
    );
  }
  const to = data?.done === false ? "setup" : firstAdminPage;
  return <Navigate to="/console/admin/$" params={{ _splat: to }} replace />;
}

function SecondFactorMissing() {
  return (
    <ConsoleFrame title="Operator">
      <EmptyState
        title="Set up two-step sign-in"
        action={
          <Link to="/console/settings" className={buttonClasses("primary")}>
            Open settings
          </Link>
        }
      >
        Operators can move money and see every account. Add an authenticator app or a passkey first.
      </EmptyState>
    </ConsoleFrame>
  );
}

/** The session was opened with a password or a sign-in service alone. */
function OneStep({ onProven }: { onProven(): void }) {
  const repeat = useReauthentication();
  const confirm = useAction(() => repeat(() => ask(adminApi.GET("/identity"))), onProven);
  return (
    <ConsoleFrame title="Operator">
      <EmptyState
        title="Confirm your identity"
        action={
          <Button look="primary" isBusy={confirm.isBusy} onClick={() => confirm.run(undefined)}>
            Continue
          </Button>
        }
      >
        You signed in with one step. Use a code from your authenticator app, or a passkey.
        <FormError message={confirm.errorBeside()} />
      </EmptyState>
    </ConsoleFrame>
  );
}
