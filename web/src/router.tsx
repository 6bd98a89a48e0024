import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Outlet,
  type RouterHistory,
  redirect,
  useLocation,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryTable } from "./api/query-table.ts";
import { ErrorPage } from "./pages/error-page.tsx";
import { MessagePage, NotFoundPage } from "./pages/message-page.tsx";
import { ConsoleLayout, ConsoleShell } from "./parts/frame/console-layout.tsx";
import { lazyPage } from "./parts/frame/lazy-page.tsx";
import { getPageData } from "./parts/frame/page-data.ts";

type RouterContext = {
  queries: QueryClient;
  /** Whether the prerendered page stays visible until the first data has arrived. */
  isPatient(): boolean;
};
type Search<Name extends string> = { [name in Name]?: string };

/** A message from the server replaces the page of the URL. */
function Root() {
  const data = getPageData();
  return data?.kind === "message" ? <MessagePage {...data} /> : <Outlet />;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Root, notFoundComponent: NotFoundPage });

/** If the session cannot be loaded, the console layout surrounds the error without the account. */
function SignedInError(props: ErrorComponentProps): ReactNode {
  const { pathname } = useLocation();
  if (!/^\/console(\/|$)/.test(pathname)) return <ErrorPage {...props} />;
  return (
    <ConsoleShell>
      <ErrorPage {...props} />
    </ConsoleShell>
  );
}

/** Requires a session; redirects to sign-in and back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    const query = queryTable.session.current();
    if ((await context.queries.ensureQueryData(query)) !== null) return;
    // Sign-in asks again: after an operator's view of an account has ended, the operator is signed in.
    context.queries.removeQueries(query);
    throw redirect({ to: "/sign-in", search: { next: location.href }, replace: true });
  },
  errorComponent: SignedInError,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: pick("next"),
  component: lazyPage(() => import("./pages/sign-in-page.tsx"), "SignInPage"),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  validateSearch: pick("invite"),
  loader: prefetch(() => import("./pages/sign-up-page.tsx")),
  component: lazyPage(() => import("./pages/sign-up-page.tsx"), "SignUpPage"),
});

const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: "/verify-email",
  validateSearch: pick("token"),
  component: lazyPage(() => import("./pages/verify-email-page.tsx"), "VerifyEmailPage"),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: pick("token"),
  component: lazyPage(() => import("./pages/reset-password-page.tsx"), "ResetPasswordPage"),
});

const outbox = createRoute({
  getParentRoute: () => root,
  path: "/outbox",
  component: lazyPage(() => import("./pages/outbox-page.tsx"), "OutboxPage"),
});

const connectError = createRoute({
  getParentRoute: () => root,
  path: "/connect/browser-auth",
  component: lazyPage(() => import("./pages/connect/connect-error-page.tsx"), "ConnectErrorPage"),
});

/** The console layout stays mounted across pages. */
const consoleLayout = createRoute({
  getParentRoute: () => signedIn,
  id: "console",
  component: ConsoleLayout,
});

/** A nested index route: `/console` must not match an unknown page with an empty name. */
const consoleRoot = createRoute({ getParentRoute: () => consoleLayout, path: "/console" });

const overview = createRoute({
  getParentRoute: () => consoleRoot,
  path: "/",
  component: lazyPage(() => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
});

const playground = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/playground",
  validateSearch: pick("model", "compare", "task", "input"),
  component: lazyPage(() => import("./pages/playground/playground-page.tsx"), "PlaygroundPage"),
});

/** A nested index route: `/models` must not match a model with an empty name. */
const catalog = createRoute({ getParentRoute: () => consoleLayout, path: "/console/models" });

const models = createRoute({
  getParentRoute: () => catalog,
  path: "/",
  validateSearch: pick("type", "capability", "q"),
  component: lazyPage(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
});

const model = createRoute({
  getParentRoute: () => catalog,
  path: "$",
  component: lazyPage(() => import("./pages/models/model-page.tsx"), "ModelPage"),
});

const keys = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/keys",
  validateSearch: pick("key", "do", "ended"),
  component: lazyPage(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});

const requests = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/requests",
  validateSearch: pick("period", "from", "to", "model", "key", "status", "error", "wire"),
  component: lazyPage(() => import("./pages/requests/requests-page.tsx"), "RequestsPage"),
});

const request = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/requests/$id",
  component: lazyPage(() => import("./pages/requests/request-page.tsx"), "RequestPage"),
});

const tasks = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/tasks",
  validateSearch: pick("view", "status", "type", "model", "q", "from", "to"),
  component: lazyPage(() => import("./pages/tasks/tasks-page.tsx"), "TasksPage"),
});

const task = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/tasks/$id",
  component: lazyPage(() => import("./pages/tasks/task-page.tsx"), "TaskPage"),
});

const webhooks = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/webhooks",
  validateSearch: pick("add"),
  component: lazyPage(() => import("./pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const webhook = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/webhooks/$id",
  validateSearch: pick("do"),
  component: lazyPage(() => import("./pages/webhooks/webhook-page.tsx"), "WebhookPage"),
});

const usage = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/usage",
  validateSearch: pick("days", "from", "to", "by", "show", "model", "key", "bar", "part"),
  component: lazyPage(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});

const charge = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/usage/charges/$id",
  component: lazyPage(() => import("./pages/usage/charge-page.tsx"), "ChargePage"),
});

const billing = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/billing",
  validateSearch: pick("checkout", "canceled", "from", "to"),
  component: lazyPage(() => import("./pages/billing/billing-page.tsx"), "BillingPage"),
});

const settings = createRoute({
  getParentRoute: () => consoleLayout,
  path: "/console/settings",
  component: lazyPage(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
});

/** The operator side. It has its own table of pages, so that nothing of it is in the customers' scripts. */
const admin = createRoute({ getParentRoute: () => consoleLayout, path: "/console/admin" });

const adminStart = createRoute({
  getParentRoute: () => admin,
  path: "/",
  component: lazyPage(() => import("./pages/admin/admin-page.tsx"), "AdminPage"),
});

const adminPage = createRoute({
  getParentRoute: () => admin,
  path: "$",
  validateSearch: (search): { [name: string]: string | undefined } => search as Record<string, string>,
  component: lazyPage(() => import("./pages/admin/admin-page.tsx"), "AdminPage"),
});

/** Unknown addresses keep the console's navigation. */
const consoleMissing = createRoute({
  getParentRoute: () => consoleRoot,
  path: "$",
  component: lazyPage(() => import("./pages/console-missing-page.tsx"), "ConsoleMissingPage"),
});

/** The former URL of the settings. */
const security = createRoute({
  getParentRoute: () => root,
  path: "/security",
  beforeLoad: () => {
    throw redirect({ to: "/console/settings", replace: true });
  },
});

const landing = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyPage(() => import("./pages/landing/landing-page.tsx"), "LandingPage"),
});

const status = createRoute({
  getParentRoute: () => root,
  path: "/status",
  loader: prefetch(() => import("./pages/status/status-page.tsx")),
  component: lazyPage(() => import("./pages/status/status-page.tsx"), "StatusPage"),
});

/** Guide and reference: their contents stay mounted across pages. */
const docsLayout = createRoute({
  getParentRoute: () => root,
  id: "docs",
  loader: prefetch(() => import("./pages/docs/docs-layout.tsx")),
  component: lazyPage(() => import("./pages/docs/docs-layout.tsx"), "DocsLayout"),
});

const reference = createRoute({
  getParentRoute: () => docsLayout,
  path: "/docs",
  component: lazyPage(() => import("./pages/reference/reference-overview.tsx"), "ReferenceOverview"),
});

const referencePage = createRoute({
  getParentRoute: () => docsLayout,
  path: "/docs/reference/$name",
  loader: prefetch(() => import("./pages/reference/reference-page.tsx")),
  component: lazyPage(() => import("./pages/reference/reference-page.tsx"), "ReferencePage"),
});

const guide = createRoute({
  getParentRoute: () => docsLayout,
  path: "/docs/guide",
  loader: prefetch(() => import("./pages/guide/guide-page.tsx")),
  component: lazyPage(() => import("./pages/guide/guide-page.tsx"), "GuidePage"),
});

const guideChapter = createRoute({
  getParentRoute: () => docsLayout,
  path: "/docs/guide/$chapter",
  loader: prefetch(() => import("./pages/guide/guide-page.tsx")),
  component: lazyPage(() => import("./pages/guide/guide-page.tsx"), "GuidePage"),
});

/** The former URL of the chapter about models. */
const guideGuide = createRoute({
  getParentRoute: () => docsLayout,
  path: "/docs/guide/guide",
  beforeLoad: () => {
    throw redirect({ to: "/docs/guide/$chapter", params: { chapter: "models" }, replace: true });
  },
});

const consent = createRoute({
  getParentRoute: () => signedIn,
  path: "/connect/requests/$id",
  component: lazyPage(() => import("./pages/connect/consent-page.tsx"), "ConsentPage"),
});

const deviceCode = createRoute({
  getParentRoute: () => signedIn,
  path: "/connect/device",
  validateSearch: pick("user_code"),
  component: lazyPage(() => import("./pages/connect/device-code-page.tsx"), "DeviceCodePage"),
});

/** For development (`vite web`); not in any build. */
const developmentPages = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => root,
        path: "/design",
        component: lazyPage(() => import("./pages/design/design-page.tsx"), "DesignPage"),
      }),
    ]
  : [];

export type SiteRouter = ReturnType<typeof createSiteRouter>;

/** `history` defaults to the browser's. */
export function createSiteRouter(context: RouterContext, history?: RouterHistory) {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      signUp,
      verifyEmail,
      resetPassword,
      outbox,
      connectError,
      landing,
      status,
      docsLayout.addChildren([reference, referencePage, guide, guideChapter, guideGuide]),
      security,
      ...developmentPages,
      signedIn.addChildren([
        consoleLayout.addChildren([
          consoleRoot.addChildren([overview, consoleMissing]),
          playground,
          catalog.addChildren([models, model]),
          keys,
          requests,
          request,
          tasks,
          task,
          webhooks,
          webhook,
          usage,
          charge,
          billing,
          settings,
          admin.addChildren([adminStart, adminPage]),
        ]),
        consent,
        deviceCode,
      ]),
    ]),
    context,
    ...(history === undefined ? {} : { history }),
    defaultErrorComponent: ErrorPage,
    defaultPreload: "intent",
    // Keep search values as strings: a numeric token must not become a number.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const words = Object.entries(search).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      );
      const text = new URLSearchParams(words).toString();
      return text === "" ? "" : `?${text}`;
    },
  });
}

type Params = Readonly<Record<string, string>>;
type PrefetchingPage = { prefetch(queries: QueryClient, params: Params): Promise<unknown> };
type Opening = { context: RouterContext; params: Params };

/** Prefetches a page's first data while its code loads. The page's own query reports errors. */
function prefetch(load: () => Promise<PrefetchingPage>) {
  return async ({ context: { queries, isPatient }, params }: Opening): Promise<void> => {
    const asked = load()
      .then((page) => page.prefetch(queries, params))
      .catch(() => {});
    if (isPatient()) await asked;
  };
}

/** Keeps only the named search parameters. */
function pick<Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): Search<Name> => {
    const words: Search<Name> = {};
    for (const name of names) {
      // `parseSearch` makes strings only.
      if (search[name]) words[name] = String(search[name]);
    }
    return words;
  };
}

declare module "@tanstack/react-router" {
  interface Register {
    router: SiteRouter;
  }
}
