/* The files of assets/, which the build embeds (cmake/BroadEmbed.cmake). */
#ifndef BROAD_CLI_PAGE_ASSETS_H
#define BROAD_CLI_PAGE_ASSETS_H

extern const char *const cli_asset_chart_css;
extern const char *const cli_asset_colours_css;
extern const char *const cli_asset_figure_css;
extern const char *const cli_asset_page_css;
extern const char *const cli_asset_page_html;
extern const char *const cli_asset_report_css;
extern const char *const cli_asset_report_html;
extern const char *const cli_asset_report_js;
extern const char *const cli_asset_report_js_sha256; /* in base64 */
extern const char *const cli_asset_review_css;
extern const char *const cli_asset_review_html;
extern const char *const cli_asset_training_css;
extern const char *const cli_asset_training_html;

#endif
