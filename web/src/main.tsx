import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/create-query-client.ts";
import { ToastProvider } from "./design/toast.tsx";
import { ConnectionBanner } from "./parts/frame/connection-banner.tsx";
import { leaveForSignIn } from "./parts/session/leave-for-sign-in.ts";
import { ReauthenticationProvider } from "./parts/session/reauthentication.tsx";
import { createSiteRouter } from "./router.tsx";
import "./site.css";

const queries = createQueryClient({ onNotSignedIn: leaveForSignIn });

const place = document.getElementById("site");
if (place === null) throw new Error("The page has no place for the site.");

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <ReauthenticationProvider>
          <RouterProvider router={createSiteRouter(queries)} />
        </ReauthenticationProvider>
        <ConnectionBanner />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
