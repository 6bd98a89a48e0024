import { PageFrame } from "../../parts/page-frame.tsx";
import { AuthenticatorSection } from "./authenticator-section.tsx";
import { ConnectedClientsSection } from "./connected-clients-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

export function SecurityPage() {
  return (
    <PageFrame title="Security" intro="How you sign in, where you are signed in, and what may act for you.">
      <PasskeysSection />
      <AuthenticatorSection />
      <PasswordSection />
      <SessionsSection />
      <ConnectedClientsSection />
    </PageFrame>
  );
}
