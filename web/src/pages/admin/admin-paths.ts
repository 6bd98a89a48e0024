// Written by `npm run generate` from docs/operating/admin-openapi.json. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

export type paths = {
  "/identity": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "identity";
            kind: "operator" | "key";
            id: string;
            name: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          };
        } };
      };
    };
  };
  "/operators": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "operator";
              id: string;
              email: string;
              name: string | null;
              role: "operator" | "reader";
              has_second_factor: boolean;
              granted_by: string;
              granted_at: string;
            })[];
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
          role: "operator" | "reader";
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "operator";
            id: string;
            email: string;
            name: string | null;
            role: "operator" | "reader";
            has_second_factor: boolean;
            granted_by: string;
            granted_at: string;
          };
        } };
      };
    };
  };
  "/operators/{user_id}": {
    delete: {
      parameters: {
        path: {
          user_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "admin_key";
              id: string;
              name: string;
              preview: string;
              access: "read" | "write";
              scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
              created_by: string;
              created_at: string;
              expires_at: string | null;
              last_used_at: string | null;
              revoked_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          access: "read" | "write";
          scopes?: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          expires_at?: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
            key: string;
          };
        } };
      };
    };
  };
  "/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
          };
        } };
      };
    };
  };
  "/audit": {
    get: {
      parameters: {
        query?: {
          actor?: string;
          action?: string;
          subject?: string;
          account_id?: string;
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "audit_entry";
              id: string;
              created_at: string;
              actor: {
                kind: "operator" | "key" | "user" | "command" | "system";
                id: string | null;
                name: string;
              };
              address: string | null;
              action: string;
              subject: string | null;
              account_id: string | null;
              reason: string | null;
              before: Record<string, unknown> | null;
              after: Record<string, unknown> | null;
              request_id: string | null;
              hash: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/audit/verification": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "audit_verification";
            ok: boolean;
            entries: number;
            fault: {
              kind: "changed" | "cut-off";
              id: string;
            } | null;
            head: {
              id: string;
              hash: string;
            } | null;
          };
        } };
      };
    };
  };
  "/accounts": {
    get: {
      parameters: {
        query?: {
          q?: string;
          plan?: string;
          status?: "active" | "suspended" | "frozen" | "closed";
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account";
              id: string;
              email: string;
              plan: string | null;
              status: "active" | "suspended" | "frozen" | "closed";
              available_balance: string;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}": {
    get: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
    patch: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          plan?: string | null;
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
            tasks_in_flight?: number | null;
          };
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/plans": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              name: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/charges": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "charge";
              id: string;
              model: string | null;
              unit: "money" | "text" | "image" | "video";
              amount: string;
              refunded: string;
              cause: {
                kind: string;
                id: string;
              };
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "api_key";
              id: string;
              name: string;
              kind: "secret" | "client" | "console";
              preview: string | null;
              created_at: string;
              last_used_at: string | null;
              expires_at: string | null;
              revoked_at: string | null;
              budget: {
                amount: string;
                period: string;
              } | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          account_id: string;
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created_at: string;
            last_used_at: string | null;
            expires_at: string | null;
            revoked_at: string | null;
            budget: {
              amount: string;
              period: string;
            } | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/suspend": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/resume": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/credit": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind: "top_up" | "grant" | "adjust";
          amount: string;
          unit?: "money" | "text" | "image" | "video";
          expires_at?: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/refunds": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          charge_id: string;
          amount: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
  "/upstreams": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream";
              id: string;
              provider: string;
              kind: string;
              upstream_model: string;
              key: string | null;
              key_number: number;
              models: ({
                id: string;
                priority: number;
                weight: number;
              })[];
              switch: {
                mode: "disabled" | "draining";
                subject: string;
                reason: string;
                by: string;
                since: string;
                ends_at: string | null;
              } | null;
              circuits: ({
                node: string;
                state: string;
                failures: number;
                last_failure: string;
                open_until: string;
                reported_at: string;
              })[];
              tasks_max: number | null;
              tasks_per_minute: number | null;
              failed_attempts: number;
              last_failure: string | null;
            })[];
            traffic: ({
              provider: string;
              model: string;
              calls: number;
              failed: number;
              latency_ms: number | null;
              first_token_ms: number | null;
            })[];
            traffic_since: string;
          };
        } };
      };
    };
  };
  "/upstreams/events": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream_event";
              id: string;
              kind: "switched_off" | "switched_on" | "secret_stored" | "secret_retired" | "catalog_applied" | "circuit";
              at: string;
              subject: string;
              by: string | null;
              detail: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/vendors": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              currency: string;
              secrets: (string)[];
              base_url: string | null;
              models: ({
                id: string;
                name: string;
                type: string;
                price: string | null;
              })[];
            })[];
          };
        } };
      };
    };
  };
  "/upstreams/switches": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          subject: string;
          mode: "disabled" | "draining" | "enabled";
          ends_at?: string;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "upstream_switch";
            subject: string;
            mode: string;
            models_without_route: (string)[];
          };
        } };
      };
    };
  };
  "/upstreams/tests": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          provider: string;
          model?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "upstream_test";
            provider: string;
            ok: boolean;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/secrets": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream_secret";
              id: string;
              source: "database" | "environment" | "missing";
              is_unreadable: boolean;
              providers: (string)[];
              versions: ({
                version: number;
                created_at: string;
                created_by: string;
                retired_at: string | null;
                last_used_at: string | null;
              })[];
            })[];
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          value: string;
          vendor?: string;
          base_url?: string;
          unchecked?: boolean;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "stored_secret";
            name: string;
            version: number | null;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/secrets/rollbacks": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          version?: number;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "stored_secret";
            name: string;
            version: number | null;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/catalog": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog";
            version: number;
            applied_at: string | null;
            by: string | null;
            reason: string | null;
            catalog: string;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          base_version: number;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_check";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            warnings: ({
              line: number;
              column: number;
              message: string;
            })[];
            changes: (string)[];
            version: number | null;
          };
        } };
      };
    };
  };
  "/catalog/versions": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "catalog_version";
              id: string;
              applied_at: string;
              by: string | null;
              reason: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/catalog/versions/{version}": {
    get: {
      parameters: {
        path: {
          version: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog";
            version: number;
            applied_at: string | null;
            by: string | null;
            reason: string | null;
            catalog: string;
          };
        } };
      };
    };
  };
  "/catalog/checks": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_check";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            warnings: ({
              line: number;
              column: number;
              message: string;
            })[];
            changes: (string)[];
            version: number | null;
          };
        } };
      };
    };
  };
  "/catalog/simulations": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          days?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_simulation";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            since: string;
            kept: number;
            total: {
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            };
            models: ({
              model: string;
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            })[];
            accounts: ({
              account_id: string;
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/edits": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          edit: {
            kind: "set_price";
            model: string;
            amounts: Record<string, string>;
          } | {
            kind: "add_model";
            provider: string;
            upstream_model: string;
            id: string;
            name: string;
            max_output_tokens: number;
            input_price: string;
            output_price: string;
          } | {
            kind: "remove_model";
            model: string;
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/vendors": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          vendor: string;
          models: (string)[];
          markup?: string;
          base_url?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/imports": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          source: "models.dev" | "litellm" | "openrouter" | "fal" | "replicate";
          list: string;
          provider: string;
          vendor?: string;
          markup?: string;
          models?: (string)[];
          type?: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
          price?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/schedules": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "scheduled_catalog";
              id: string;
              status: "waiting" | "applied" | "failed" | "canceled";
              run_at: string;
              reason: string;
              base_version: number;
              created_at: string;
              created_by: string;
              version: number | null;
              failure: string | null;
              finished_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          run_at: string;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_schedule";
            check: {
              object: "catalog_check";
              ok: boolean;
              problems: ({
                line: number;
                column: number;
                message: string;
              })[];
              warnings: ({
                line: number;
                column: number;
                message: string;
              })[];
              changes: (string)[];
              version: number | null;
            };
            scheduled: {
              object: "scheduled_catalog";
              id: string;
              status: "waiting" | "applied" | "failed" | "canceled";
              run_at: string;
              reason: string;
              base_version: number;
              created_at: string;
              created_by: string;
              version: number | null;
              failure: string | null;
              finished_at: string | null;
            } | null;
          };
        } };
      };
    };
  };
  "/catalog/schedules/{schedule_id}/cancel": {
    post: {
      parameters: {
        path: {
          schedule_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "scheduled_catalog";
            id: string;
            status: "waiting" | "applied" | "failed" | "canceled";
            run_at: string;
            reason: string;
            base_version: number;
            created_at: string;
            created_by: string;
            version: number | null;
            failure: string | null;
            finished_at: string | null;
          };
        } };
      };
    };
  };
  "/setup": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "setup";
            done: boolean;
            steps: ({
              name: "vendor_key" | "models" | "prices" | "payments" | "mail" | "backups" | "first_call";
              done: boolean;
              found: string;
            })[];
          };
        } };
      };
    };
  };
};
