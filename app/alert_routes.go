package app

import (
	"net/http"

	"ax/app/access"
)

func (a *App) alertFormRoutes() []route {
	return []route{
		{http.MethodGet, "/alerts/rules/new", (*App).showNewRule, access.EditRule, false},
		{http.MethodPost, "/alerts/rules/new", (*App).createRule, access.EditRule, false},
		{http.MethodGet, "/alerts/rules/:id", (*App).showRule, access.Read, false},
		{http.MethodPost, "/alerts/rules/:id", (*App).saveRule, access.EditRule, false},
		{http.MethodPost, "/alerts/rules/:id/enable", (*App).enableRule, access.EditRule, false},
		{http.MethodPost, "/alerts/rules/:id/disable", (*App).disableRule, access.EditRule, false},
		{http.MethodPost, "/alerts/rules/:id/delete", (*App).deleteRule, access.EditRule, false},
		{http.MethodGet, "/alerts/channels/new", (*App).showNewChannel, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/new", (*App).createChannel, access.ManageChannels, false},
		{http.MethodGet, "/alerts/channels/:id", (*App).showChannel, access.Read, false},
		{http.MethodPost, "/alerts/channels/:id", (*App).saveChannel, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/:id/on", (*App).turnChannelOn, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/:id/off", (*App).turnChannelOff, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/:id/test", (*App).testChannel, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/:id/delete", (*App).deleteChannel, access.ManageChannels, false},
		{http.MethodPost, "/alerts/channels/:id/told", (*App).tellChannel, access.EditRule, false},
		{http.MethodPost, "/alerts/channels/:id/told/remove", (*App).untellChannel, access.EditRule, false},
		{http.MethodGet, "/alerts/deliveries", (*App).listDeliveries, access.Read, false},
		{http.MethodGet, "/alerts/deliveries/:id", (*App).showDelivery, access.Read, false},
		{http.MethodPost, "/alerts/deliveries/:id/replay", (*App).replayDelivery, access.Acknowledge, false},
	}
}
