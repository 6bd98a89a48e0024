import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { sessionQuery } from "./api/session-query.ts";
import { ConnectErrorPage } from "./pages/connect/connect-error-page.tsx";
import { BrokenPage, MessagePage, NotFoundPage } from "./pages/message-page.tsx";
import { SignInPage } from "./pages/sign-in-page.tsx";
import { getPageData } from "./parts/page-data.ts";

type RouterContext = { queries: QueryClient };
type Search<Name extends string> = { [name in Name]?: string };

/** What the server has to say comes before everything that the address would show. */
function Root() {
  const data = getPageData();
  return data?.kind === "message" ? <MessagePage {...data} /> : <Outlet />;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Root, notFoundComponent: NotFoundPage });

/** Everything below it needs somebody who is signed in; others sign in first and come back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in", search: { next: location.href }, replace: true });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: pick("next"),
  component: SignInPage,
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  validateSearch: pick("invite"),
  component: lazyRouteComponent(() => import("./pages/sign-up-page.tsx"), "SignUpPage"),
});

const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: "/verify-email",
  validateSearch: pick("token"),
  component: lazyRouteComponent(() => import("./pages/verify-email-page.tsx"), "VerifyEmailPage"),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: pick("token"),
  component: lazyRouteComponent(() => import("./pages/reset-password-page.tsx"), "ResetPasswordPage"),
});

const outbox = createRoute({
  getParentRoute: () => root,
  path: "/outbox",
  component: lazyRouteComponent(() => import("./pages/outbox-page.tsx"), "OutboxPage"),
});

const connectError = createRoute({
  getParentRoute: () => root,
  path: "/connect/browser-auth",
  component: ConnectErrorPage,
});

const console = createRoute({
  getParentRoute: () => signedIn,
  path: "/console",
  component: lazyRouteComponent(() => import("./pages/console-page.tsx"), "ConsolePage"),
});

const security = createRoute({
  getParentRoute: () => signedIn,
  path: "/security",
  component: lazyRouteComponent(() => import("./pages/security/security-page.tsx"), "SecurityPage"),
});

const consent = createRoute({
  getParentRoute: () => signedIn,
  path: "/connect/requests/$id",
  component: lazyRouteComponent(() => import("./pages/connect/consent-page.tsx"), "ConsentPage"),
});

const deviceCode = createRoute({
  getParentRoute: () => signedIn,
  path: "/connect/device",
  validateSearch: pick("user_code"),
  component: lazyRouteComponent(() => import("./pages/connect/device-code-page.tsx"), "DeviceCodePage"),
});

export function createSiteRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      signIn,
      signUp,
      verifyEmail,
      resetPassword,
      outbox,
      connectError,
      signedIn.addChildren([console, security, consent, deviceCode]),
    ]),
    context: { queries },
    defaultErrorComponent: BrokenPage,
    defaultPreload: "intent",
    // Words stay words: a token of digits must not become a number.
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

/** Keeps the named words of an address, and nothing else. */
function pick<Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): Search<Name> => {
    const words: Search<Name> = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === "string" && value !== "") words[name] = value;
    }
    return words;
  };
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createSiteRouter>;
  }
}
