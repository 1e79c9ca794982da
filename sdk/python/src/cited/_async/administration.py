"""Audit, erasures, keys, tenants and probes: the operations of those who run the service."""

from __future__ import annotations

from datetime import datetime

from typing_extensions import Unpack

from .. import _calls, models, requests
from .transport import AsyncTransport

Id = _calls.Id


class AsyncAdministration(AsyncTransport):
    """The part of the client that manages the service."""

    # Audit

    async def list_asks(
        self,
        *,
        outcome: str | None = None,
        request_id: str | None = None,
        key_id: str | None = None,
        provider: str | None = None,
        asked_after: datetime | None = None,
        asked_before: datetime | None = None,
        cursor: Id | None = None,
        limit: int | None = None,
    ) -> models.AuditPage:
        """A page of the record of asks, newest first."""
        params = _calls.query(
            {
                "outcome": outcome,
                "request_id": request_id,
                "key_id": key_id,
                "provider": provider,
                "asked_after": asked_after,
                "asked_before": asked_before,
                "cursor": cursor,
                "limit": limit,
            }
        )
        return await self._call(models.AuditPage, "GET", "/v1/audit", params=params)

    async def get_ask(self, id: Id) -> models.AuditedAsk:
        """The record of an ask."""
        return await self._call(models.AuditedAsk, "GET", f"/v1/audit/{_calls.part(id)}")

    async def list_security_events(
        self,
        *,
        action: str | None = None,
        refused: bool | None = None,
        key_id: str | None = None,
        request_id: str | None = None,
        occurred_after: datetime | None = None,
        occurred_before: datetime | None = None,
        deployment: bool | None = None,
        cursor: Id | None = None,
        limit: int | None = None,
    ) -> models.SecurityEventPage:
        """A page of the record of changes and refusals, newest first."""
        params = _calls.query(
            {
                "action": action,
                "refused": refused,
                "key_id": key_id,
                "request_id": request_id,
                "occurred_after": occurred_after,
                "occurred_before": occurred_before,
                "deployment": deployment,
                "cursor": cursor,
                "limit": limit,
            }
        )
        return await self._call(models.SecurityEventPage, "GET", "/v1/security-events", params=params)

    async def verify_security_events(
        self, *, noted: str | None = None, deployment: bool | None = None
    ) -> models.SecurityEventVerification:
        """Whether that record is whole."""
        params = _calls.query({"noted": noted, "deployment": deployment})
        path = "/v1/security-events/verification"
        return await self._call(models.SecurityEventVerification, "GET", path, params=params)

    # Erasures

    async def create_erasure(self, **request: Unpack[requests.NewErasure]) -> models.Erasure:
        """Deletes documents with every trace of them, and keeps a receipt of what went and what remains."""
        return await self._call(models.Erasure, "POST", "/v1/erasures", json=request)

    async def list_erasures(self, *, cursor: Id | None = None, limit: int | None = None) -> models.ErasurePage:
        """A page of receipts, newest first."""
        params = _calls.query({"cursor": cursor, "limit": limit})
        return await self._call(models.ErasurePage, "GET", "/v1/erasures", params=params)

    async def get_erasure(self, id: Id) -> models.Erasure:
        """The receipt of an erasure."""
        return await self._call(models.Erasure, "GET", f"/v1/erasures/{_calls.part(id)}")

    # Keys and tenants

    async def list_keys(self, *, cursor: str | None = None, limit: int | None = None) -> models.KeyPage:
        """A page of keys, without their secrets."""
        return await self._call(
            models.KeyPage, "GET", "/v1/keys", params=_calls.query({"cursor": cursor, "limit": limit})
        )

    async def create_key(self, **request: Unpack[requests.NewKey]) -> models.IssuedKey:
        """Creates a key; this is the only time that its secret is shown."""
        return await self._call(models.IssuedKey, "POST", "/v1/keys", json=request)

    async def get_key(self, id: Id) -> models.Key:
        """A key, without its secret."""
        return await self._call(models.Key, "GET", f"/v1/keys/{_calls.part(id)}")

    async def rotate_key(self, id: Id, **request: Unpack[requests.KeyRotation]) -> models.IssuedKey:
        """Gives a key another secret; the old one is valid for a time of grace."""
        return await self._call(models.IssuedKey, "POST", f"/v1/keys/{_calls.part(id)}/rotate", json=request)

    async def revoke_key(self, id: Id) -> models.Key:
        """Revokes a key."""
        return await self._call(models.Key, "DELETE", f"/v1/keys/{_calls.part(id)}")

    async def get_webhook_secret(self, url: str) -> models.WebhookSecret:
        """The secret by which the receiver at this URL checks webhooks."""
        params = _calls.query({"url": url})
        return await self._call(models.WebhookSecret, "GET", "/v1/webhooks/secret", params=params)

    async def get_storage(self) -> models.Storage:
        """How much the tenant keeps, and how much it may."""
        return await self._call(models.Storage, "GET", "/v1/storage")

    async def list_tenants(self) -> models.TenantList:
        """The tenants, for the operator."""
        return await self._call(models.TenantList, "GET", "/v1/tenants")

    async def create_tenant(self, **request: Unpack[requests.NewTenant]) -> models.Tenant:
        """Creates a tenant, for the operator."""
        return await self._call(models.Tenant, "POST", "/v1/tenants", json=request)

    async def get_tenant(self, id: Id) -> models.TenantStorage:
        """A tenant with how much it keeps and may keep, for the operator."""
        return await self._call(models.TenantStorage, "GET", f"/v1/tenants/{_calls.part(id)}")

    async def update_tenant(self, id: Id, **request: Unpack[requests.TenantChange]) -> models.TenantStorage:
        """Sets how much a tenant may keep, for the operator."""
        return await self._call(models.TenantStorage, "PATCH", f"/v1/tenants/{_calls.part(id)}", json=request)

    async def delete_tenant(self, id: Id) -> models.TenantReceipt:
        """Deletes a tenant with everything in it, for the operator."""
        return await self._call(models.TenantReceipt, "DELETE", f"/v1/tenants/{_calls.part(id)}")

    async def create_tenant_key(self, id: Id, **request: Unpack[requests.NewKey]) -> models.IssuedKey:
        """Creates a key of a tenant, for the operator."""
        return await self._call(models.IssuedKey, "POST", f"/v1/tenants/{_calls.part(id)}/keys", json=request)

    # Operations

    async def livez(self) -> models.Health:
        """Whether the process runs."""
        return await self._call(models.Health, "GET", "/livez")

    async def readyz(self) -> models.Health:
        """Whether requests can be served."""
        return await self._call(models.Health, "GET", "/readyz")

    async def get_metrics(self) -> str:
        """The metrics in the text format of Prometheus, for the operator."""
        return (await self._send("GET", "/metrics")).text
