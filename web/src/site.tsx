import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ToastProvider } from "./design/toast.tsx";
import { BrandDress } from "./parts/frame/brand-dress.tsx";
import { ConnectionBanner } from "./parts/frame/connection-banner.tsx";
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
        <BrandDress />
      </ToastProvider>
    </QueryClientProvider>
  );
}
