import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { useLiveState } from "./api/use-live-changes.ts";
import { Spinner } from "./design/spinner.tsx";
import { ToastProvider } from "./design/toast.tsx";
import { useBrand } from "./parts/frame/use-brand.ts";
import { useIsReconnecting } from "./parts/frame/use-connection.ts";
import { ReauthenticationProvider } from "./parts/session/reauthentication.tsx";
import type { SiteRouter } from "./router.tsx";

export function Site({ queries, router }: { queries: QueryClient; router: SiteRouter }) {
  return (
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <ReauthenticationProvider>
          <RouterProvider router={router} />
        </ReauthenticationProvider>
        <ConnectionBanner />
        <BrandHead />
      </ToastProvider>
    </QueryClientProvider>
  );
}

/** Keeps the document's title and colours in the operator's current brand. */
function BrandHead() {
  const { name, logo, styles } = useBrand();
  useEffect(() => {
    document.documentElement.dataset.brand = name;
    renderPageHead('link[rel="stylesheet"][href^="/assets/brand-"]', "stylesheet", styles);
    if (logo !== null) renderPageHead('link[rel="icon"]', "icon", logo);
  }, [name, logo, styles]);
  return null;
}

function renderPageHead(selector: string, rel: string, address: string | null): void {
  const known = document.head.querySelector<HTMLLinkElement>(selector);
  if (address === null) known?.remove();
  else if (known === null) document.head.append(Object.assign(document.createElement("link"), { rel, href: address }));
  else if (known.getAttribute("href") !== address) known.href = address;
}

/** Shown while the server is unreachable or live updates are interrupted. It covers no controls. */
function ConnectionBanner() {
  const isAway = useIsReconnecting();
  const isReconnecting = useLiveState() === "broken" || isAway;
  return (
    <div
      role="status"
      // Above the toasts, away from headings and navigation.
      className="pointer-events-none fixed right-4 bottom-20 z-30 empty:hidden"
    >
      {isReconnecting && (
        <p className="flex items-center gap-2.5 rounded-md border border-warning bg-warning-soft px-4 py-2 text-sm font-medium text-warning shadow-float">
          <Spinner />
          Reconnecting…
        </p>
      )}
    </div>
  );
}
